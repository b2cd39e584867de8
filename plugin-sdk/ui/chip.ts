import { html, type TemplateResult } from "lit";

/** A short word about the house. `warn` deserves a look. */
export interface Chip {
  /** With `{name}` where the name stands, when there is one. */
  readonly text: string;
  /** A long one ends with dots, so that the rest of the text can be read. */
  readonly name?: string;
  readonly icon: `mdi:${string}`;
  /** Which of the theme's hues colours it. */
  readonly hue: "ok" | "warn" | "info";
}

/** The styles around it hold `chip.css`. */
export function chip({ text, name, icon, hue }: Chip): TemplateResult {
  const [before, after] = name === undefined ? [] : text.split("{name}");
  return html`<span
    class="chip ${hue === "warn" ? "attention" : ""}"
    .style=${`--hue: var(--mantel-hue-${hue})`}
  >
    <mantel-icon name=${icon}></mantel-icon>
    <span class="said" dir="auto"
      >${before}<span class="name" dir="auto">${name ?? text}</span>${after}</span
    >
  </span>`;
}

/** What is not closed looks like a door or a window, by what people call it. */
export function openIcon(name: string): Chip["icon"] {
  return /door|gate|tür|tor\b/i.test(name) ? "mdi:door-open" : "mdi:window-open-variant";
}
