import { type Signal, signal } from "@preact/signals-core";
import { html, nothing, type TemplateResult } from "lit";
import type { Api } from "../api.ts";
import { currentLocale } from "../i18n/language.ts";
import { words } from "./words.ts";

/** A town as the host finds it. */
export interface Town {
  readonly name: string;
  /** ISO 3166-1 alpha-2. */
  readonly country: string;
  readonly population: number;
  readonly latitude: number;
  readonly longitude: number;
}

/** Typing pauses shorter than this cause no search. */
const PAUSE_MS = 150;

interface TownSearchParts {
  readonly api: Pick<Api, "get">;
  /** The id of the input; two on one page need different ones. */
  readonly id: string;
  readonly choose: (town: Town) => void;
}

/** A search for a town by name, in the list that the host ships. */
export class TownSearch {
  readonly #parts: TownSearchParts;
  /** `undefined` before the first search. */
  readonly #towns: Signal<readonly Town[] | undefined> = signal(undefined);
  #timer: ReturnType<typeof setTimeout> | undefined;
  #asked = "";

  constructor(parts: TownSearchParts) {
    this.#parts = parts;
  }

  view(): TemplateResult {
    const { id } = this.#parts;
    const texts = words.value;
    const towns = this.#towns.value;
    return html`<div class="town-search">
      <div class="town-field">
        <mantel-icon name="mdi:map-marker"></mantel-icon>
        <input
          id=${id}
          type="search"
          autocomplete="off"
          spellcheck="false"
          maxlength="100"
          aria-label=${texts.town}
          placeholder=${texts.town}
          @input=${this.#type}
        />
      </div>
      <div role="status">
        ${towns?.length === 0 ? html`<p class="hint">${texts.noTown}</p>` : nothing}
      </div>
      ${
        towns && towns.length > 0
          ? html`<ul popover aria-label=${texts.towns}>
              ${towns.map((town) => this.#townView(town))}
            </ul>`
          : nothing
      }
    </div>`;
  }

  #townView(town: Town): TemplateResult {
    return html`<li>
      <button type="button" @click=${() => this.#parts.choose(town)}>
        <strong dir="auto">${town.name}</strong><small>${detailsOf(town)}</small>
      </button>
    </li>`;
  }

  readonly #type = ({ currentTarget }: Event): void => {
    const input = currentTarget as HTMLInputElement;
    clearTimeout(this.#timer);
    this.#asked = input.value.trim();
    this.#timer = setTimeout(() => void this.#search(this.#asked, input), PAUSE_MS);
  };

  async #search(text: string, input: HTMLInputElement): Promise<void> {
    if (text === "") {
      this.#towns.value = undefined;
      return;
    }
    try {
      const { places } = await this.#parts.api.get(
        `/places?q=${encodeURIComponent(text)}` as const,
      );
      if (text !== this.#asked) return;
      this.#towns.value = places;
      showBelow(input);
    } catch (error) {
      console.warn("could not search for a town", error);
    }
  }
}

/** Shows the list of towns below the input, over everything else. */
function showBelow(input: HTMLInputElement): void {
  const list = input.closest(".town-search")?.querySelector<HTMLElement>("ul");
  if (!list) return;
  const { bottom, left, width } = input.getBoundingClientRect();
  list.style.inset = `${bottom + 6}px auto auto ${left}px`;
  list.style.width = `${width}px`;
  if (!list.matches(":popover-open")) list.showPopover();
}

function detailsOf({ country, population }: Town): string {
  const locale = currentLocale.value;
  const name = new Intl.DisplayNames(locale, { type: "region" }).of(country) ?? country;
  return `${name} · ${words.value.people(new Intl.NumberFormat(locale).format(population))}`;
}

/** The change of the config that makes a town the place of the home. */
export function placePatch({ name, latitude, longitude }: Town): object {
  return { home: { place: name, latitude, longitude } };
}
