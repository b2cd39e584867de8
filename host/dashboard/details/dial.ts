import { html, nothing, svg, type TemplateResult } from "lit";
import { followDrag } from "./follow-drag.ts";

const START = 135;
const SWEEP = 270;
const RADIUS = 112;
const CENTRE = 132;

/** A target to turn. */
export interface Dial {
  readonly label: string;
  readonly min: number;
  readonly max: number;
  readonly step: number;
  readonly target: number;
  /** The measured value. */
  readonly current: number | undefined;
  readonly targetText: string;
  readonly currentText: string | undefined;
  readonly set: (target: number) => void;
}

/** A dial for a target. The bright part of its arc is the gap between the measured value and the target. */
export function dialView(dial: Dial): TemplateResult {
  const { label, min, max, target, current, targetText, currentText } = dial;
  const shareOf = (value: number): number =>
    Math.max(0, Math.min(1, (value - min) / Math.max(max - min, 1e-9)));
  const to = shareOf(target);
  const from = current === undefined ? to : shareOf(current);
  const [x, y] = pointAt(to);
  return html`<div
    class="dial"
    role="slider"
    tabindex="0"
    aria-label=${label}
    aria-valuemin=${min}
    aria-valuemax=${max}
    aria-valuenow=${target}
    aria-valuetext=${targetText}
    @pointerdown=${(event: PointerEvent) => drag(event, dial)}
    @keydown=${(event: KeyboardEvent) => stepByKey(event, dial)}
  >
    <svg viewBox="0 0 264 264" aria-hidden="true">
      <g fill="none" stroke-linecap="round" stroke-width="24">
        ${svg`<path class="track" d=${arc(0, 1)}></path>
          <path class="filled" d=${arc(0, Math.max(0.001, Math.min(from, to)))}></path>
          <path class="gap" stroke-linecap="butt" d=${arc(Math.min(from, to), Math.max(from, to))}></path>`}
      </g>
      ${svg`<circle class="knob" cx=${x} cy=${y} r="18"></circle>
        <circle class="dot" cx=${x} cy=${y} r="8"></circle>`}
    </svg>
    <span class="figures">
      <span>${label}</span>
      <b>${targetText}</b>
      ${currentText === undefined ? nothing : html`<span>${currentText}</span>`}
    </span>
  </div>`;
}

function pointAt(share: number): readonly [x: number, y: number] {
  const angle = ((START + share * SWEEP) / 180) * Math.PI;
  return [round(CENTRE + RADIUS * Math.cos(angle)), round(CENTRE + RADIUS * Math.sin(angle))];
}

function arc(from: number, to: number): string {
  if (to <= from) return "";
  const [x0, y0] = pointAt(from);
  const [x1, y1] = pointAt(to);
  return `M${x0} ${y0}A${RADIUS} ${RADIUS} 0 ${(to - from) * SWEEP > 180 ? 1 : 0} 1 ${x1} ${y1}`;
}

/**
 * The value of a dial at a point from its centre. In the gap below it is the nearer end.
 */
export function targetAt(
  x: number,
  y: number,
  { min, max, step }: Pick<Dial, "min" | "max" | "step">,
): number {
  const angle = ((Math.atan2(y, x) * 180) / Math.PI - START + 720) % 360;
  const beyond = angle > SWEEP;
  const share = beyond ? (angle - SWEEP < (360 - SWEEP) / 2 ? 1 : 0) : angle / SWEEP;
  return snapped(min + share * (max - min), { min, max, step });
}

/** The nearest value that the device takes. */
export function snapped(
  value: number,
  { min, max, step }: Pick<Dial, "min" | "max" | "step">,
): number {
  return Math.max(min, Math.min(max, Number((Math.round(value / step) * step).toFixed(4))));
}

function drag(down: PointerEvent, dial: Dial): void {
  const element = down.currentTarget;
  if (!(element instanceof HTMLElement) || down.button !== 0) return;
  const { left, top, width } = element.getBoundingClientRect();
  const offset = (event: PointerEvent): readonly [x: number, y: number] => [
    event.clientX - left - width / 2,
    event.clientY - top - width / 2,
  ];
  // only the ring turns; the figures in it are for reading
  if (Math.hypot(...offset(down)) < width * 0.32) return;
  followDrag(element, down, (event) => dial.set(targetAt(...offset(event), dial)));
}

function stepByKey(event: KeyboardEvent, dial: Dial): void {
  const steps: Readonly<Record<string, number>> = {
    ArrowUp: 1,
    ArrowRight: 1,
    ArrowDown: -1,
    ArrowLeft: -1,
    PageUp: 4,
    PageDown: -4,
  };
  const by = steps[event.key];
  if (by === undefined) return;
  event.preventDefault();
  dial.set(snapped(dial.target + by * dial.step, dial));
}

const round = (value: number): number => Math.round(value * 10) / 10;
