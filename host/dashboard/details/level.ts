import { html, type TemplateResult } from "lit";
import { followDrag } from "./follow-drag.ts";

const KEYS: Readonly<Record<string, number>> = {
  ArrowUp: 5,
  ArrowRight: 5,
  ArrowDown: -5,
  ArrowLeft: -5,
  PageUp: 20,
  PageDown: -20,
  Home: -100,
  End: 100,
};

/** A level to set by dragging. */
export interface Level {
  readonly label: string;
  /** 0 to 100. */
  readonly percent: number;
  readonly step?: number | undefined;
  readonly on: boolean;
  /** The figure, such as "62" and "%". */
  readonly value: string;
  readonly unit?: string | undefined;
  /** A line below the figure. */
  readonly note?: string | undefined;
  readonly icon: string;
  readonly set: (percent: number) => void;
}

/** A large vertical slider. A tap or a drag sets the level under the finger. */
export function levelView(level: Level): TemplateResult {
  const { label, percent, on, value, unit = "", note = "", icon } = level;
  return html`<div
    class="vs ${on ? "on" : ""}"
    role="slider"
    tabindex="0"
    aria-label=${label}
    aria-orientation="vertical"
    aria-valuemin="0"
    aria-valuemax="100"
    aria-valuenow=${Math.round(percent)}
    aria-valuetext="${value} ${unit}"
    .style=${`--percent: ${percent}%`}
    @pointerdown=${(event: PointerEvent) => drag(event, level)}
    @keydown=${(event: KeyboardEvent) => stepByKey(event, level)}
  >
    <b>${value}<small>${unit}</small></b>
    <em>${note}</em>
    <mantel-icon name=${icon}></mantel-icon>
  </div>`;
}

/** The level at a height of an element: 0 at its lower edge, 100 at its upper edge. */
export function levelAt(
  y: number,
  { top, height }: { readonly top: number; readonly height: number },
  step = 1,
): number {
  const percent = height === 0 ? 0 : (1 - (y - top) / height) * 100;
  return Math.max(0, Math.min(100, Math.round(percent / step) * step));
}

function drag(down: PointerEvent, { step, set }: Level): void {
  const element = down.currentTarget;
  if (!(element instanceof HTMLElement) || down.button !== 0) return;
  let last: number | undefined;
  followDrag(element, down, ({ clientY }) => {
    const next = levelAt(clientY, element.getBoundingClientRect(), step);
    if (next !== last) set(next);
    last = next;
  });
}

function stepByKey(event: KeyboardEvent, { percent, step = 1, set }: Level): void {
  const change = KEYS[event.key];
  if (change === undefined) return;
  event.preventDefault();
  const by = Math.sign(change) * Math.max(Math.abs(change), step);
  set(Math.max(0, Math.min(100, Math.round((percent + by) / step) * step)));
}
