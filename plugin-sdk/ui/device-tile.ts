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

/** What a widget's `styles` hold for `deviceTile`. */
export const DEVICE_TILE_STYLES = tileStyles + twoLineStyles + climateStyles + mediaStyles;

/**
 * A device as a tile that taps, drags and tells. The widget's `styles` hold `DEVICE_TILE_STYLES`, and its
 * `texts` those of `device-texts.ts`.
 */
export function deviceTile(device: Device, actions: Actions): TemplateResult {
  if (device.kind === "thermostat") return climateTile(device, actions);
  if (device.kind === "media-player") return mediaTile(device, actions);
  return plainTile(device, actions);
}

/**
 * `deviceTile` for a widget of many devices, to be called in its effect: of the tiles that have been made,
 * those whose device or surroundings have changed are made again.
 */
export function deviceTiles(actions: Actions): (device: Device) => TemplateResult {
  const made = new WeakMap<Device, ReadonlySignal<TemplateResult>>();
  return (device) => {
    const tile = made.get(device) ?? computed(() => deviceTile(device, actions));
    made.set(device, tile);
    return tile.value;
  };
}
