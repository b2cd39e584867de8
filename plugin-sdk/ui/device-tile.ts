import { computed, type ReadonlySignal } from "@preact/signals-core";
import { html, nothing, type TemplateResult } from "lit";
import type { Device } from "../widget.ts";
import type { Actions } from "./actions.ts";
import { cameraTile } from "./camera-tile.ts";
import type { DeviceFunction } from "./functions.ts";
import { lookOf } from "./look.ts";
import { mediaTile } from "./media-tile.ts";
import { plainTile } from "./plain-tile.ts";
import { wideTile } from "./wide-tile.ts";
import cameraStyles from "./camera-tile.css";
import mediaStyles from "./media-tile.css";
import tileStyles from "./tile.css";
import twoLineStyles from "./two-lines.css";
import wideStyles from "./wide-tile.css";

/** The CSS for `deviceTile`. Include it in the widget's `styles`. */
export const DEVICE_TILE_STYLES =
  tileStyles + twoLineStyles + wideStyles + mediaStyles + cameraStyles;

/**
 * Renders a device as an interactive tile. The widget's `styles` must include `DEVICE_TILE_STYLES`, and its `texts`
 * those of `device-texts.ts`.
 */
export function deviceTile(device: DeviceFunction, actions: Actions): TemplateResult {
  return withDetails(device, actions, tileOf(device, actions));
}

/**
 * A tile that opens the details of its device: by the button in its corner, a long press, a right click or the menu
 * key. The dashboard follows these gestures wherever an element has `data-details`.
 */
export function withDetails(
  { id, name, kind, image }: Device,
  { t }: Pick<Actions, "t">,
  tile: TemplateResult,
): TemplateResult {
  return html`<div class="slot" data-details=${id}>
    ${tile}
    ${
      image === true && kind !== "media-player"
        ? nothing
        : html`<button class="more" data-opens aria-label="${t("Details")}: ${name}">
            <mantel-icon name="mdi:dots-horizontal"></mantel-icon>
          </button>`
    }
  </div>`;
}

/** The tile alone, without a way to the details. */
export function tileOf(device: DeviceFunction, actions: Actions): TemplateResult {
  if (isPlayer(device)) return mediaTile(device, actions);
  if (device.image === true) return cameraTile(device, actions);
  const look = lookOf(device, actions);
  return look.buttons ? wideTile(device, actions, look) : plainTile(device, actions, look);
}

/** True for a player that plays tracks, and is not only switched on and off. */
export const isPlayer = ({ kind, capabilities }: Device): boolean =>
  kind === "media-player" && ["playback", "next", "title"].some((field) => capabilities[field]);

/**
 * Creates a cached `deviceTile` for widgets with many devices, to be called in an effect. A tile is rendered again
 * only if its device, or something else that it shows, has changed.
 */
export function deviceTiles(actions: Actions): (device: Device) => TemplateResult {
  const made = new WeakMap<Device, ReadonlySignal<TemplateResult>>();
  return (device) => {
    const tile = made.get(device) ?? computed(() => deviceTile(device, actions));
    made.set(device, tile);
    return tile.value;
  };
}
