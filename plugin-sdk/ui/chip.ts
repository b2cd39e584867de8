import { html, type TemplateResult } from "lit";

/** A short status text of the home. `warn` and `alert` highlight it. */
export interface Chip {
  /** The text, with `{name}` as the placeholder for `name`. */
  readonly text: string;
  /** The name. A long one is shortened with an ellipsis, so that the rest of the text fits. */
  readonly name?: string;
  readonly icon: `mdi:${string}`;
  /** The id of the device whose details a tap opens. */
  readonly device?: string;
  /** The theme hue of the chip. */
  readonly hue: "ok" | "warn" | "alert" | "info";
}

/** Renders a chip. The widget's `styles` must include `chip.css`. */
export function chip({ text, name, icon, hue, device }: Chip): TemplateResult {
  const [before, after] = name === undefined ? [] : text.split("{name}");
  const classes = `chip ${/warn|alert/.test(hue) ? "attention" : ""}`;
  const style = `--hue: var(--mantel-hue-${hue})`;
  const content = html`<mantel-icon name=${icon}></mantel-icon>
    <span class="said" dir="auto"
      >${before}<span class="name" dir="auto">${name ?? text}</span>${after}</span
    >`;
  return device === undefined
    ? html`<span class=${classes} .style=${style}>${content}</span>`
    : html`<button class=${classes} .style=${style} data-details=${device} data-opens>
        ${content}
      </button>`;
}

/** The icon for an open contact: a door or a window, chosen by its name. */
export function openIcon(name: string): Chip["icon"] {
  return /door|gate|tür|tor\b/i.test(name) ? "mdi:door-open" : "mdi:window-open-variant";
}
