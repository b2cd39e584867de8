import { html, nothing, type TemplateResult } from "lit";
import type { Actions } from "./actions.ts";
import type { Look } from "./appearance.ts";
import { iconOf } from "./device-icon.ts";
import { directionOf, followDrag } from "./drag.ts";
import type { DeviceFunction } from "./functions.ts";

const KEY_STEPS: Readonly<Record<string, number>> = {
  ArrowRight: 5,
  ArrowUp: 5,
  ArrowLeft: -5,
  ArrowDown: -5,
  PageUp: 20,
  PageDown: -20,
  Home: -100,
  End: 100,
};

const THIN_SPACE = "\u202f";

interface Tile {
  readonly device: DeviceFunction;
  readonly look: Look;
  readonly actions: Actions;
  readonly classes: string;
  readonly style: string;
  /** The tile's label for screen readers. */
  readonly said: string;
}

/** Renders a device as a tile: a slider, with a switch for screen readers, if it has a level, or a button if it can be tapped. */
export function plainTile(device: DeviceFunction, actions: Actions, look: Look): TemplateResult {
  const { hue, level, progress, value, unit = "" } = look;
  const tile = {
    device,
    look,
    actions,
    classes: `tile ${looksOf(look, device.available)} ${actions.statesOf(device)}`,
    style: `--hue: ${hue}; --percent: ${progress ?? level?.percent ?? 0}%`,
    said: actions.wordOf(device) ?? `${value} ${unit}`.trim(),
  };
  if (level)
    return html`${switches(look) ? unseenSwitch(tile) : nothing}${slider(tile, level.percent)}`;
  return (look.tap ?? look.opens) ? button(tile) : still(tile);
}

function looksOf({ on, level, progress }: Look, available: boolean): string {
  if (!available) return "";
  return [
    on ? "on" : "",
    on && level ? "level" : "",
    progress === undefined ? "" : "progress",
  ].join(" ");
}

/** Says and switches on or off, which a slider cannot. Keys reach the slider only, where Enter switches. */
function unseenSwitch({ device, look, actions }: Tile): TemplateResult {
  return html`<button
    class="unseen"
    role="switch"
    tabindex="-1"
    aria-checked=${look.on}
    aria-label=${device.name}
    @click=${() => actions.tap(device, look)}
  ></button>`;
}

function slider(tile: Tile, percent: number): TemplateResult {
  const { device, classes, style, said } = tile;
  return html`<button
    role="slider"
    class=${classes}
    .style=${style}
    aria-label=${device.name}
    aria-valuemin="0"
    aria-valuemax="100"
    aria-valuenow=${Math.round(percent)}
    aria-valuetext=${said}
    @pointerdown=${(event: PointerEvent) => startDrag(event, tile)}
    @keydown=${(event: KeyboardEvent) => stepByKey(event, tile)}
    @click=${(event: MouseEvent) => tapUnlessDragged(event, tile)}
  >
    ${content(tile)}
  </button>`;
}

function button(tile: Tile): TemplateResult {
  const { device, look, actions, classes, style } = tile;
  return html`<button
    class=${classes}
    .style=${style}
    aria-pressed=${switches(look) ? look.on : nothing}
    ?data-opens=${look.opens === true}
    @click=${() => actions.tap(device, look)}
  >
    ${content(tile)}
  </button>`;
}

function still(tile: Tile): TemplateResult {
  const { device, classes, style } = tile;
  return html`<div class=${classes} .style=${style} role="group" aria-label=${device.name}>
    ${content(tile)}
  </div>`;
}

/** True if a tap turns the device on or off. What a lock or an alarm does is in its text, such as "Locked". */
const switches = ({ tap }: Look): boolean => tap !== undefined && ("on" in tap || "parts" in tap);

/** The visible content in reading order. A button takes its accessible name from it. */
function content({ device, look, actions }: Tile): TemplateResult {
  const { value, unit } = look;
  const shown = html`${value}${unit === undefined ? nothing : html`<small>${THIN_SPACE}${unit}</small>`}`;
  const age = actions.ageOf(device);
  return html`<span class="icon"><mantel-icon name=${iconOf(device)}></mantel-icon></span>
    <span class="name">${device.name}</span>
    <span class="value ${/\p{N}/u.test(value) ? "" : "words"}">
      ${actions.wordOf(device) ?? shown}
      ${age === undefined ? nothing : html`<small class="age">${age}</small>`}
    </span>`;
}

const dragged = new WeakSet<EventTarget>();

function startDrag(down: PointerEvent, { device, look, actions }: Tile): void {
  const { currentTarget } = down;
  const { level } = look;
  if (!level || !currentTarget) return;
  dragged.delete(currentTarget);
  followDrag(down, (percent) => {
    dragged.add(currentTarget);
    void actions.send(device, { [level.field]: snapped(percent, level.step) });
  });
}

/** Ignores the click event that ends a drag. */
function tapUnlessDragged(
  { currentTarget, detail }: MouseEvent,
  { device, look, actions }: Tile,
): void {
  if (currentTarget && dragged.delete(currentTarget) && detail > 0) return;
  actions.tap(device, look);
}

function stepByKey(event: KeyboardEvent, { device, look: { level }, actions }: Tile): void {
  const change = KEY_STEPS[event.key];
  const { currentTarget, key } = event;
  if (change === undefined || !level || !(currentTarget instanceof Element)) return;
  event.preventDefault();
  const sideways = key === "ArrowLeft" || key === "ArrowRight" ? directionOf(currentTarget) : 1;
  // a key moves at least to the next level
  const by = Math.sign(change) * Math.max(Math.abs(change), level.step ?? 0) * sideways;
  void actions.send(device, { [level.field]: snapped(level.percent + by, level.step) });
}

/** The nearest level that the device has, such as one of three speeds. */
function snapped(percent: number, step = 1): number {
  return Math.max(0, Math.min(100, Math.round(percent / step) * step));
}
