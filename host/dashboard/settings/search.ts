import type { Device } from "@mantel/plugin-sdk/device";
import { type Signal, signal } from "@preact/signals-core";
import { html, nothing, type TemplateResult } from "lit";
import type { ModuleView } from "../../api/module.ts";
import { addressOf, type SettingsDependencies } from "./page.ts";
import { type PageEntry, PAGES } from "./pages.ts";
import { words } from "./words.ts";

const SHOWN = 12;
const MARKED_MS = 2_500;

type TextKey = {
  [K in keyof typeof words.value]: (typeof words.value)[K] extends string ? K : never;
}[keyof typeof words.value];

/** Single settings: their page, the row on it, and the keys of the texts by which they are found. */
const SETTINGS: readonly (readonly [page: string, row: string, ...texts: TextKey[]])[] = [
  ["general", "language", "language"],
  ["general", "time-zone", "timeZone", "timeZoneHint"],
  ["general", "week-start", "weekStart"],
  ["general", "units", "units", "unitsHint"],
  ["general", "theme", "theme", "themeDark", "themeLight"],
  ["general", "night", "atNight", "atNightHint", "themeNight"],
  ["general", "idle", "nobodyNear", "nobodyNearHint"],
  ["place", "town", "town", "townHint"],
  ["calendars", "", "sources", "feeds"],
  ["access", "", "newToken", "tokens", "thisBrowser", "signOut"],
  ["displays", "", "pairDisplay", "addDisplay", "kiosk", "turnsPages"],
  ["scenes", "", "newScene"],
  ["backup", "", "createBackup", "restore"],
  ["advanced", "modules", "modules", "modulesHint", "log"],
  ["advanced", "plugins", "plugins", "pluginsHint"],
  ["advanced", "bridges", "bridges", "bridgesHint"],
  ["advanced", "api", "apiDocs", "apiHint"],
  ["advanced", "about", "about", "aboutHint"],
];

interface Result {
  readonly title: string;
  readonly place: string;
  readonly href: string;
  /** The row to mark on the page. */
  readonly row: string;
}

/** The search over all settings and devices. */
export class SettingsSearch {
  readonly #store: SettingsDependencies["store"];
  readonly #sought: Signal<string> = signal("");

  constructor({ store }: Pick<SettingsDependencies, "store">) {
    this.#store = store;
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
              <a href=${result.href} @click=${() => this.#open(result)}>
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

  #open({ row }: Result): void {
    this.clear();
    // The page is drawn after the address has changed.
    if (row !== "") setTimeout(() => markRow(row), 60);
  }

  #results(): readonly Result[] {
    const sought = this.#sought.value.trim().toLocaleLowerCase();
    const fits = (...parts: readonly (string | null)[]): boolean =>
      parts.some((part) => part?.toLocaleLowerCase().includes(sought));
    const devices = this.#store.allDevices().value;
    const modules = this.#store.modules().value;
    return [
      ...PAGES.filter(({ title }) => fits(words.value[title])).map(resultOfPage),
      ...settingsThat(fits),
      ...devices.filter(({ name, room }) => fits(name, room)).map(resultOfDevice),
      ...modules.filter(({ name }) => fits(name)).map(resultOfModule),
    ].slice(0, SHOWN);
  }
}

function resultOfPage({ id, title }: PageEntry): Result {
  return { title: words.value[title], place: words.value.settings, href: addressOf(id), row: "" };
}

function settingsThat(fits: (text: string) => boolean): readonly Result[] {
  const texts = words.value;
  return SETTINGS.flatMap(([page, row, ...keys]) => {
    const found = keys.find((key) => fits(texts[key]));
    const entry = PAGES.find(({ id }) => id === page);
    if (found === undefined || !entry) return [];
    const [first = found] = keys;
    const title = row === "" ? texts[found] : texts[first];
    return [{ title, place: texts[entry.title], href: addressOf(page), row }];
  });
}

function resultOfDevice({ id, name, room }: Device): Result {
  const texts = words.value;
  const place = `${texts.devices}, ${room ?? texts.noRoom}`;
  return { title: name, place, href: addressOf("devices", id), row: "" };
}

function resultOfModule({ id, name }: ModuleView): Result {
  const texts = words.value;
  const place = `${texts.advanced}, ${texts.modules}`;
  return { title: name, place, href: addressOf("modules", id), row: "" };
}

/** The text with the part that was sought marked. */
function marked(text: string, sought: string): unknown {
  const at = text.toLocaleLowerCase().indexOf(sought.toLocaleLowerCase());
  if (at < 0 || sought === "") return text;
  const end = at + sought.length;
  return html`${text.slice(0, at)}<mark>${text.slice(at, end)}</mark>${text.slice(end)}`;
}

/** Scrolls to a setting and marks it for a moment. */
function markRow(id: string): void {
  const row = document.querySelector<HTMLElement>(`.settings [data-setting="${CSS.escape(id)}"]`);
  if (!row) return;
  row.scrollIntoView({ block: "center" });
  row.querySelector<HTMLElement>("input, select, a")?.focus();
  row.classList.add("found");
  setTimeout(() => row.classList.remove("found"), MARKED_MS);
}
