import { html, nothing, type TemplateResult } from "lit";

/** One figure with its title and an optional chart. */
export interface Figure {
  readonly title: string;
  /** Absent while it is unknown. */
  readonly value?: string | undefined;
  readonly unit?: string | undefined;
  /** A text that replaces the figure, such as "No answer". */
  readonly word?: string | undefined;
  /** Small text below the figure, such as its age. */
  readonly note?: string | undefined;
  /** One of the theme's hues, such as `cool`. */
  readonly hue: string;
  readonly stale?: boolean;
  /** The id of the device whose details a tap opens. */
  readonly device?: string | undefined;
  /** The chart at the bottom, hidden from screen readers. */
  readonly chart?: unknown;
}

/** Renders a figure as a card. The widget's `styles` must include `card.css`. */
export function figureCard(figure: Figure): TemplateResult {
  const { title, note, hue, device, stale = false, chart = nothing } = figure;
  return html`<section
    class="card figure ${stale ? "stale" : ""}"
    aria-label=${title}
    data-details=${device ?? nothing}
    .style=${`--hue: var(--mantel-hue-${hue})`}
  >
    <div class="head">
      ${
        device === undefined
          ? html`<span class="title">${title}</span>`
          : html`<button class="title" data-opens>${title}</button>`
      }
      <span class="sum"
        >${shown(figure)}${note ? html`<small class="note">${note}</small>` : nothing}</span
      >
    </div>
    ${chart}
  </section>`;
}

function shown({ value, unit, word }: Figure): TemplateResult {
  if (word !== undefined) return html`<b class="word">${word}</b>`;
  if (value === undefined) return html`<b class="none">–</b>`;
  return html`<b>${value}${unit === undefined ? nothing : html`<small>${unit}</small>`}</b>`;
}
