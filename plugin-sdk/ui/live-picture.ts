import { html, type TemplateResult } from "lit";
import type { Actions } from "./actions.ts";
import { pictureOf } from "./camera-tile.ts";
import type { DeviceFunction } from "./functions.ts";

/**
 * The live picture of a camera, and its last picture until that shows something. A widget in a frame shows the last
 * picture only. Needs `camera-tile.css` and `live-picture.css`.
 */
export function livePictureOf(
  device: DeviceFunction,
  actions: Pick<Actions, "t" | "fmt" | "now" | "isVisible" | "pictureOf">,
): TemplateResult {
  const still = pictureOf(device, actions, actions.pictureOf(device));
  if (!device.live || !device.available || !actions.isVisible) return still;
  return html`<mantel-live device=${device.id} forms=${device.live.join(" ")}></mantel-live>
    <small class="age now">${actions.t("Live")}</small>
    ${still}`;
}
