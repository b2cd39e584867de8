import { signal } from "@preact/signals-core";
import { html, type TemplateResult } from "lit";
import type { SettingsDependencies } from "./page.ts";
import { words } from "./words.ts";

interface Entry {
  readonly at: string;
  readonly level: string;
  readonly sentence: string;
  readonly fields?: Readonly<Record<string, unknown>>;
}

const LOOK_EVERY_MS = 2_000;
const SHOWN = 200;
const LEVELS = ["debug", "info", "warn", "error"] as const;
type Level = (typeof LEVELS)[number];

/** The latest log records of a module, live. */
export class ModuleLog {
  readonly #parts: SettingsDependencies;
  readonly #path: `/modules/${string}`;
  readonly #entries = signal<readonly Entry[]>([]);
  readonly #level = signal<Level>("info");
  readonly #timer: ReturnType<typeof setInterval>;

  constructor(parts: SettingsDependencies, path: `/modules/${string}`) {
    this.#parts = parts;
    this.#path = path;
    this.#timer = setInterval(() => void this.#look(), LOOK_EVERY_MS);
    void this.#look();
  }

  close(): void {
    clearInterval(this.#timer);
  }

  view(): TemplateResult {
    const texts = words.value;
    return html`<section class="panel">
      <header>
        <h2>${texts.log}</h2>
        <label class="inline"
          >${texts.minimumLevel}
          <select
            @change=${({ currentTarget }: { currentTarget: HTMLSelectElement }) => {
              this.#level.value = currentTarget.value as Level;
              void this.#look();
            }}
          >
            ${LEVELS.map(
              (level) =>
                html`<option value=${level} ?selected=${level === this.#level.value}>
                  ${level}
                </option>`,
            )}
          </select>
        </label>
      </header>
      <div class="log" role="log" tabindex="0" aria-label=${texts.log} aria-live="off">
        ${this.#entries.value.map(lineOf)}
        ${this.#entries.value.length === 0 ? html`<p>${texts.noRecords}</p>` : ""}
      </div>
    </section>`;
  }

  async #look(): Promise<void> {
    const level = this.#level.peek();
    try {
      const { entries } = await this.#parts.api.get(`${this.#path}/logs?level=${level}`);
      if (level === this.#level.peek()) this.#entries.value = entries.slice(-SHOWN).toReversed();
    } catch (error) {
      console.warn("could not read the log", error);
    }
  }
}

function lineOf({ at, level, sentence, fields }: Entry): TemplateResult {
  const rest = fields && Object.keys(fields).length > 0 ? JSON.stringify(fields) : "";
  return html`<p class=${level}>
    <time datetime=${at}>${at.slice(11, 19)}</time> <b>${level}</b> <bdi>${sentence}</bdi>
    <small>${rest}</small>
  </p>`;
}
