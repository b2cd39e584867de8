import { computed, type ReadonlySignal } from "@preact/signals-core";
import type { TemplateResult } from "lit";
import type { Device } from "../widget.ts";
import type { Actions } from "./actions.ts";
import { climateTile } from "./climate-tile.ts";
import { mediaTile } from "./media-tile.ts";
import { plainTile } from "./plain-tile.ts";
import climateStyles from "./climate-tile.css";
import mediaStyles from "./media-tile.css";
import tileStyles from "./tile.css";
import twoLineStyles from "./two-lines.css";

/** The CSS for `deviceTile`. Include it in the widget's `styles`. */
export const DEVICE_TILE_STYLES = tileStyles + twoLineStyles + climateStyles + mediaStyles;

/**
 * Renders a device as an interactive tile. The widget's `styles` must include `DEVICE_TILE_STYLES`, and its `texts`
 * those of `device-texts.ts`.
 */
export function deviceTile(device: Device, actions: Actions): TemplateResult {
  if (device.kind === "thermostat") return climateTile(device, actions);
  if (device.kind === "media-player") return mediaTile(device, actions);
  return plainTile(device, actions);
}

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
