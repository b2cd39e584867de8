import type { Color } from "@mantel/plugin-sdk/device";
import { html, type TemplateResult } from "lit";
import { followDrag } from "./follow-drag.ts";
import { words } from "./words.ts";

const STOPS = 12;
const HUE_STEP = 5;
const SATURATION_STEP = 5;

/** The gradient of the wheel: the hues of lamps, clockwise from the right. */
const RING = `conic-gradient(from 90deg, ${Array.from({ length: STOPS + 1 }, (_, index) => colourOf({ hue: (index * 360) / STOPS, saturation: 100 })).join(", ")})`;

/** A colour of a lamp as CSS. */
export function colourOf({ hue, saturation }: Color): string {
  return `hsl(${Math.round(hue)} 92% ${Math.round(97 - (32 * saturation) / 100)}%)`;
}

/** The colour at a point of the wheel, from -1 to 1 from its centre. Outside of the wheel it is the one of the edge. */
export function colourAt(x: number, y: number): Color {
  const hue = (Math.round((Math.atan2(y, x) * 180) / Math.PI) + 360) % 360;
  return { hue, saturation: Math.round(Math.min(1, Math.hypot(x, y)) * 100) };
}

/** The point of a colour, from -1 to 1 from the centre of the wheel. */
export function pointOf({ hue, saturation }: Color): readonly [x: number, y: number] {
  const angle = (hue / 180) * Math.PI;
  return [(Math.cos(angle) * saturation) / 100, (Math.sin(angle) * saturation) / 100];
}

/** A wheel of all colours: the angle is the hue, the distance from the centre the saturation. */
export function colourWheel(
  color: Color,
  set: (color: Color) => void,
  recent: readonly Color[],
): TemplateResult {
  const texts = words.value;
  const hue = Math.round(color.hue);
  return html`<div
    class="wheel"
    role="slider"
    tabindex="0"
    aria-label=${texts.colour}
    aria-valuemin="0"
    aria-valuemax="360"
    aria-valuenow=${hue}
    aria-valuetext=${texts.colourAt(hue, Math.round(color.saturation))}
    .style=${`background: radial-gradient(closest-side, oklch(0.985 0.012 85) 4%, oklch(0.97 0.02 85 / 0.55) 38%, transparent 82%), ${RING}`}
    @pointerdown=${(event: PointerEvent) => drag(event, set)}
    @keydown=${(event: KeyboardEvent) => stepByKey(event, color, set)}
  >
    ${recent.map((each) => html`<i class="small" .style=${placeOf(each)}></i>`)}
    <i .style=${`${placeOf(color)}; background: ${colourOf(color)}`}></i>
  </div>`;
}

function placeOf(color: Color): string {
  const [x, y] = pointOf(color);
  return `left: ${50 + x * 50}%; top: ${50 + y * 50}%`;
}

function drag(down: PointerEvent, set: (color: Color) => void): void {
  const element = down.currentTarget;
  if (!(element instanceof HTMLElement) || down.button !== 0) return;
  const { left, top, width, height } = element.getBoundingClientRect();
  followDrag(element, down, ({ clientX, clientY }) => {
    const x = ((clientX - left) / width) * 2 - 1;
    const y = ((clientY - top) / height) * 2 - 1;
    set(colourAt(x, y));
  });
}

/** Left and right turn the hue; up and down change the saturation. */
function stepByKey(event: KeyboardEvent, color: Color, set: (color: Color) => void): void {
  const { hue, saturation } = color;
  const turn = { ArrowLeft: -HUE_STEP, ArrowRight: HUE_STEP }[event.key];
  const change = { ArrowUp: SATURATION_STEP, ArrowDown: -SATURATION_STEP }[event.key];
  if (turn === undefined && change === undefined) return;
  event.preventDefault();
  set({
    hue: (Math.round(hue) + (turn ?? 0) + 360) % 360,
    saturation: Math.max(0, Math.min(100, Math.round(saturation) + (change ?? 0))),
  });
}
