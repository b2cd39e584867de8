import type { Device } from "@mantel/plugin-sdk/widget";
import { html, nothing } from "lit";
import type { Actions } from "./actions.ts";
import { followDrag } from "./drag.ts";
import { iconOf } from "./icon.ts";
import { type Look, lookOf } from "./look.ts";

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

/** A device as a tile: a slider where it has a level, a button where it can be tapped. */
export function deviceTile(device: Device, actions: Actions): unknown {
  const look = lookOf(device);
  const word = actions.wordOf(device);
  const classes = classesOf(device, look, actions);
  const style = styleOf(look);
  const content = html`<span class="icon"><mantel-icon name=${iconOf(device)}></mantel-icon></span>
    <span class="value">${word ?? valueOf(look)}${staleSince(device, actions)}</span>
    <span class="name">${device.name}</span>`;
  const said = word ?? `${look.value} ${look.unit ?? ""}`.trim();
  if (look.level) {
    return html`<button
      role="slider"
      class=${classes}
      .style=${style}
      aria-label=${device.name}
      aria-valuemin="0"
      aria-valuemax="100"
      aria-valuenow=${Math.round(look.level.percent)}
      aria-valuetext=${said}
      @pointerdown=${(event: PointerEvent) => startDrag(event, device, look, actions)}
      @keydown=${(event: KeyboardEvent) => step(event, device, look, actions)}
      @click=${(event: MouseEvent) => tapUnlessDragged(event, device, look, actions)}
    >
      ${content}
    </button>`;
  }
  if (look.tap === undefined) {
    return html`<div class=${classes} .style=${style} role="group" aria-label="${device.name}, ${said}">
      ${content}
    </div>`;
  }
  return html`<button
    class=${classes}
    .style=${style}
    aria-label="${device.name}, ${said}"
    aria-pressed=${look.on}
    @click=${() => actions.tap(device, look)}
  >
    ${content}
  </button>`;
}

function classesOf(device: Device, look: Look, actions: Actions): string {
  const away = !device.available;
  return [
    "tile",
    look.on && !away ? "on" : "",
    look.level && look.on && !away ? "level" : "",
    look.progress !== undefined && !away ? "progress" : "",
    Object.keys(device.pending).length > 0 ? "pending" : "",
    actions.wordOf(device) === undefined ? "" : "word",
    away ? "away" : "",
    actions.ctx.online.value ? "" : "stale",
  ].join(" ");
}

function styleOf({ hue, level, progress }: Look): string {
  return `--hue: ${hue}; --percent: ${progress ?? level?.percent ?? 0}%`;
}

function valueOf({ value, unit }: Look): unknown {
  return html`${value}${unit === undefined ? nothing : html`<small>${unit}</small>`}`;
}

/** Without a connection, a value says how old it is. */
function staleSince({ lastSeenAt }: Device, { ctx }: Actions): unknown {
  if (ctx.online.value || lastSeenAt === null) return nothing;
  return html`<small class="age">${ctx.fmt.relative(Date.parse(lastSeenAt))}</small>`;
}

const dragged = new WeakSet<EventTarget>();

function startDrag(down: PointerEvent, device: Device, { level }: Look, actions: Actions): void {
  const tile = down.currentTarget;
  if (!level || !tile) return;
  dragged.delete(tile);
  followDrag(down, {
    level: level.percent,
    onLevel(percent) {
      dragged.add(tile);
      void actions.send(device, { [level.field]: percent });
    },
    onEnd: () => undefined,
  });
}

/** The click that ends a drag is not a tap. */
function tapUnlessDragged(event: MouseEvent, device: Device, look: Look, actions: Actions): void {
  const tile = event.currentTarget;
  if (tile && dragged.delete(tile) && event.detail > 0) return;
  actions.tap(device, look);
}

function step(event: KeyboardEvent, device: Device, { level }: Look, actions: Actions): void {
  const change = KEY_STEPS[event.key];
  if (change === undefined || !level) return;
  event.preventDefault();
  const percent = Math.max(0, Math.min(100, Math.round(level.percent) + change));
  void actions.send(device, { [level.field]: percent });
}
