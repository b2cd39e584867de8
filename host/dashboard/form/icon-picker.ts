import { html, type TemplateResult } from "lit";
import { currentLocale, languageOf } from "../i18n/language.ts";
import { isFound, OFFERED_ICONS, type OfferedIcon } from "./icon-words.ts";
import { words } from "./words.ts";

interface IconChoice {
  /** The id of the field for the search. */
  readonly id: string;
  /** The chosen icon; `null` without one. */
  readonly value: string | null;
  /** Called with an empty text when the chosen icon is pressed again. */
  readonly set: (icon: string) => void;
}

/** Buttons with icons, and a search that finds them by English and German words. A chosen icon is always among them. */
export function iconPicker({ id, value, set }: IconChoice): TemplateResult {
  const own = OFFERED_ICONS.filter(({ icon }) => icon === value);
  const others = OFFERED_ICONS.filter(({ icon }) => icon !== value);
  const first = own.length > 0 || value === null || value === "" ? own : [unlisted(value)];
  return html`<div class="icon-picker">
    <input
      id=${id}
      type="search"
      autocomplete="off"
      placeholder=${words.value.searchIcons}
      @input=${search}
      @change=${(event: Event) => event.stopPropagation()}
    />
    <div class="icons" role="group" aria-label=${words.value.icons}>
      ${[...first, ...others].map(
        (each) =>
          html`<button
            type="button"
            class="button"
            data-icon=${each.icon}
            aria-label=${nameOf(each)}
            aria-pressed=${each.icon === value}
            @click=${() => set(each.icon === value ? "" : each.icon)}
          >
            <mantel-icon name=${each.icon}></mantel-icon>
          </button>`,
      )}
    </div>
    <p class="hint" role="status" hidden>${words.value.noIcon}</p>
  </div>`;
}

/** Hides the buttons that do not match. They stay in the page, because a form has no state of its own. */
function search({ currentTarget }: Event): void {
  if (!(currentTarget instanceof HTMLInputElement)) return;
  const picker = currentTarget.parentElement;
  let found = 0;
  for (const button of picker?.querySelectorAll<HTMLElement>("[data-icon]") ?? []) {
    const { icon = "" } = button.dataset;
    const offered = OFFERED_ICONS.find((each) => each.icon === icon) ?? unlisted(icon);
    button.hidden = !isFound(offered, currentTarget.value);
    if (!button.hidden) found++;
  }
  picker?.querySelector(".hint")?.toggleAttribute("hidden", found > 0);
}

function nameOf({ english, german }: OfferedIcon): string {
  return languageOf(currentLocale.value) === "de" ? german : english;
}

/** An icon that is not offered, such as one of a brand. */
function unlisted(icon: string): OfferedIcon {
  const name = icon.replace(/^mdi:/, "").replaceAll("-", " ");
  return { icon, english: name, german: name, words: name };
}
