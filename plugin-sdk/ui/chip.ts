import { html, type TemplateResult } from "lit";

/** A short word about the house. `warn` deserves a look. */
export interface Chip {
  readonly text: string;
  readonly icon: `mdi:${string}`;
  /** Which of the theme's hues colours it. */
  readonly hue: "ok" | "warn" | "info";
}

/** The styles around it hold `chip.css`. */
export function chip({ text, icon, hue }: Chip): TemplateResult {
  return html`<span
    class="chip ${hue === "warn" ? "attention" : ""}"
    .style=${`--hue: var(--mantel-hue-${hue})`}
  >
    <mantel-icon name=${icon}></mantel-icon><span>${text}</span>
  </span>`;
}

/** What is not closed looks like a door or a window, by what people call it. */
export function openIcon(name: string): Chip["icon"] {
  return /door|gate|tür|tor\b/i.test(name) ? "mdi:door-open" : "mdi:window-open-variant";
}
