import type { CalendarSource } from "@mantel/plugin-sdk/calendar";
import { signal } from "@preact/signals-core";
import { html, nothing, type TemplateResult } from "lit";
import { formatInstant } from "./figures.ts";
import type { Adder } from "./find-adder.ts";
import type { SettingsDependencies } from "./page.ts";
import { words } from "./words.ts";

const SOURCES = "/calendar/events?limit=1";
/** The host waits at most 30 s for a calendar. */
const REFRESH_DEADLINE_MS = 35_000;

/** The state of each calendar, with a button that reads it now. */
export class CalendarList {
  readonly #parts: SettingsDependencies;
  readonly #adder: () => Adder | undefined;
  /** Called when the options of the calendars have changed. */
  readonly #optionsChanged: () => Promise<void>;
  readonly #sources = signal<readonly CalendarSource[]>([]);

  constructor(
    parts: SettingsDependencies,
    adder: () => Adder | undefined,
    optionsChanged: () => Promise<void>,
  ) {
    this.#parts = parts;
    this.#adder = adder;
    this.#optionsChanged = optionsChanged;
    // without calendars the page has nothing to list
    void this.#load().catch(() => undefined);
  }

  view(): TemplateResult | typeof nothing {
    const sources = this.#sources.value;
    if (sources.length === 0) return nothing;
    return html`<section class="panel">
      <h2>${words.value.calendars}</h2>
      <ul class="rows">
        ${sources.map((source) => this.#rowOf(source))}
      </ul>
    </section>`;
  }

  #rowOf(source: CalendarSource): TemplateResult {
    const { id, name, error, fetchedAt, fingerprint } = source;
    const { formAction } = this.#parts;
    const texts = words.value;
    return html`<li class="row">
      <span class="grow">
        <strong dir="auto">${name}</strong>
        <small>${texts.confirmedAt(formatInstant(fetchedAt))}</small>
        ${error === undefined ? nothing : html`<small class="fault" dir="auto">${error}</small>`}
      </span>
      ${
        fingerprint === undefined
          ? nothing
          : formAction.confirmButton(`certificate ${id}`, texts.acceptCertificate, () =>
              this.#accept(id, fingerprint),
            )
      }
      ${formAction.button(texts.refreshNow, () => this.#refresh(id))}
    </li>`;
  }

  #refresh(id: string): void {
    const { api, formAction } = this.#parts;
    void formAction.run(async () => {
      const path = `/calendar/sources/${encodeURIComponent(id)}/refresh`;
      await api.post(path, {}, REFRESH_DEADLINE_MS);
      await this.#load();
    });
  }

  /** Pins the certificate of a server, for the calendar or for the account that it belongs to. */
  #accept(id: string, fingerprint: string): void {
    const { api, formAction } = this.#parts;
    const adder = this.#adder();
    if (!adder) return;
    void formAction.run(async () => {
      const { options, revision } = await api.get(adder.config);
      const entries = Object.keys(options[adder.option] ?? {});
      const account = entries
        .filter((each) => id.startsWith(`${each}-`))
        .toSorted()
        .at(-1);
      const entry = entries.includes(id) ? id : account;
      if (entry === undefined) return;
      const body = { [adder.option]: { [entry]: { fingerprint } } };
      await api.change("PATCH", adder.config, { body, revision });
      await this.#optionsChanged();
    }, words.value.saved);
  }

  async #load(): Promise<void> {
    const { sources } = await this.#parts.api.get(SOURCES);
    this.#sources.value = sources;
  }
}
