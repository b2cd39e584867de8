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
/** New calendars take some seconds to be read. */
const LOOK_EVERY_MS = 2_000;
const LOOKS = 10;

/** The state of each calendar, with a button that reads it now. */
export class CalendarList {
  readonly #parts: SettingsDependencies;
  readonly #adder: () => Adder | undefined;
  /** Called when the options of the calendars have changed. */
  readonly #optionsChanged: () => Promise<void>;
  #timer: ReturnType<typeof setTimeout> | undefined;
  readonly #sources = signal<readonly CalendarSource[]>([]);

  constructor(
    parts: SettingsDependencies,
    adder: () => Adder | undefined,
    optionsChanged: () => Promise<void>,
  ) {
    this.#parts = parts;
    this.#adder = adder;
    this.#optionsChanged = optionsChanged;
    void this.#lookAgain(0);
  }

  /** Shows calendars that were just added, as they are read. */
  showNew(): void {
    clearTimeout(this.#timer);
    void this.#lookAgain(LOOKS);
  }

  close(): void {
    clearTimeout(this.#timer);
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
        fingerprint === undefined || !this.#parts.mayAdminister
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

  async #lookAgain(times: number): Promise<void> {
    await this.#load().catch(() => undefined); // without calendars the page has nothing to list
    if (times > 0) {
      this.#timer = setTimeout(() => void this.#lookAgain(times - 1), LOOK_EVERY_MS);
    }
  }

  async #load(): Promise<void> {
    const { sources } = await this.#parts.api.get(SOURCES);
    this.#sources.value = sources;
  }
}
