import type { Device } from "@mantel/plugin-sdk/device";
import { iconOf } from "@mantel/plugin-sdk/ui/device-icon";
import { type Signal, signal } from "@preact/signals-core";
import { html, nothing, type TemplateResult } from "lit";
import type { Result } from "../find/home-results.ts";
import { fitOf, folded } from "../find/match.ts";
import { findSettings } from "./find-settings.ts";
import { markRow } from "./mark-row.ts";
import { addressOf, type SettingsDependencies } from "./page.ts";
import { words } from "./words.ts";

const SHOWN = 12;

type Visit = Pick<SettingsDependencies, "store" | "mayAdminister">;

/** A result that a link opens. */
type Linked = Result & { readonly opens: { readonly address: string; readonly row?: string } };

/** The search over all settings and devices. */
export class SettingsSearch {
  readonly #visit: Visit;
  readonly #sought: Signal<string> = signal("");

  constructor(visit: Visit) {
    this.#visit = visit;
  }

  get isActive(): boolean {
    return this.#sought.value.trim() !== "";
  }

  clear(): void {
    this.#sought.value = "";
  }

  inputView(): TemplateResult {
    const texts = words.value;
    return html`<div class="find" role="search">
      <mantel-icon name="mdi:magnify"></mantel-icon>
      <input
        type="search"
        autocomplete="off"
        spellcheck="false"
        aria-label=${texts.findSetting}
        title=${texts.findHint}
        placeholder=${texts.findSetting}
        .value=${this.#sought.value}
        @input=${({ currentTarget }: Event) =>
          (this.#sought.value = (currentTarget as HTMLInputElement).value)}
        @keydown=${this.#key}
      />
      <kbd aria-hidden="true">/</kbd>
    </div>`;
  }

  resultsView(): TemplateResult {
    const texts = words.value;
    const results = this.#results();
    return html`<ul class="results" aria-label=${texts.results}>
        ${results.map(
          (result) =>
            html`<li>
              <a href=${result.opens.address} @click=${() => this.#open(result)}>
                <span dir="auto">${marked(result.title, this.#sought.value.trim())}</span>
                <small dir="auto">${result.place}</small>
              </a>
            </li>`,
        )}
      </ul>
      <p class="hint" role="status">${results.length === 0 ? texts.noSettingFound : nothing}</p>`;
  }

  readonly #key = ({ key, currentTarget }: KeyboardEvent): void => {
    if (key === "Escape") this.clear();
    if (key !== "Enter") return;
    const nav = (currentTarget as HTMLElement).closest("nav");
    nav?.querySelector<HTMLAnchorElement>(".results a")?.click();
  };

  #open({ opens: { row = "" } }: Linked): void {
    this.clear();
    if (row !== "") markRow(row);
  }

  #results(): readonly Linked[] {
    const text = this.#sought.value;
    const sought = folded(text.trim());
    const devices = this.#visit.store
      .allDevices()
      .value.filter(({ name, room }) =>
        [name, room ?? ""].some((each) => fitOf(each, sought) !== undefined),
      );
    return [...findSettings(text, this.#visit), ...devices.map(resultOfDevice)]
      .filter(isLinked)
      .slice(0, SHOWN);
  }
}

function isLinked(result: Result): result is Linked {
  return "address" in result.opens;
}

function resultOfDevice(device: Device): Result {
  const texts = words.value;
  const place = `${texts.devices}, ${device.room ?? texts.noRoom}`;
  const opens = { address: addressOf("devices", device.id) };
  return { title: device.name, place, icon: iconOf(device), opens };
}

/** The text with the part that was sought marked. */
function marked(text: string, sought: string): unknown {
  const at = text.toLocaleLowerCase().indexOf(sought.toLocaleLowerCase());
  if (at < 0 || sought === "") return text;
  const end = at + sought.length;
  return html`${text.slice(0, at)}<mark>${text.slice(at, end)}</mark>${text.slice(end)}`;
}
