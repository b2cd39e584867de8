import type { TemplateResult } from "lit";
import type { Device } from "../widget.ts";
import type { Actions } from "./actions.ts";
import { climateTile } from "./climate-tile.ts";
import { mediaTile } from "./media-tile.ts";
import { plainTile } from "./plain-tile.ts";

/**
 * A device as a tile that taps, drags and tells. The widget's `styles` hold `tile.css`, and its `texts`
 * those of `device-texts.ts`.
 */
export function deviceTile(device: Device, actions: Actions): TemplateResult {
  if (device.kind === "thermostat") return climateTile(device, actions);
  if (device.kind === "media-player") return mediaTile(device, actions);
  return plainTile(device, actions);
}
