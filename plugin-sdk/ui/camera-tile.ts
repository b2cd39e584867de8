import { html, nothing, type TemplateResult } from "lit";
import type { CameraPicture } from "../widget.ts";
import type { Actions } from "./actions.ts";
import { iconOf } from "./device-icon.ts";
import type { DeviceFunction } from "./functions.ts";
import { lookOf } from "./look.ts";

/** Above this age a picture is outdated. */
const FRESH_MS = 45_000;

/** A camera: its picture with its age, two cells wide and high, or `shown`. A tap opens it in large. */
export function cameraTile(
  device: DeviceFunction,
  actions: Actions,
  shown?: TemplateResult,
): TemplateResult {
  const picture = actions.pictureOf(device);
  const { value } = lookOf(device, actions);
  return html`<button
    class="tile wide camera ${picture.bitmap ? "" : "none"} ${actions.statesOf(device)}"
    data-opens
  >
    ${shown ?? pictureOf(device, actions, picture)}
    <span class="name">${device.name}</span>
    <span class="value">${actions.wordOf(device) ?? (value === "–" ? nothing : value)}</span>
  </button>`;
}

/** The picture of a camera with its age, or its icon while there is none. Needs `camera-tile.css`. */
export function pictureOf(
  device: DeviceFunction,
  { t, fmt, now }: Pick<Actions, "t" | "fmt" | "now">,
  picture: CameraPicture,
): TemplateResult {
  const { bitmap, takenAt = 0, failed } = picture;
  if (!bitmap) {
    return html`<mantel-icon name=${iconOf(device)}></mantel-icon>${
        failed ? html`<small class="age">${t("No picture")}</small>` : nothing
      }`;
  }
  const isFresh = now() - takenAt < FRESH_MS;
  return html`${canvasOf(bitmap)}<small class="age ${isFresh ? "" : "old"}"
      >${isFresh ? t("Now") : fmt.relative(takenAt)}</small
    >`;
}

const MOST_PX = 1_280;
const canvases = new WeakMap<ImageBitmap, HTMLCanvasElement>();

/** A canvas with a picture, because the page's policy permits no address of a picture in memory. */
export function canvasOf(bitmap: ImageBitmap): HTMLCanvasElement {
  const known = canvases.get(bitmap);
  if (known) return known;
  const canvas = document.createElement("canvas");
  const scale = Math.min(1, MOST_PX / bitmap.width);
  canvas.width = bitmap.width * scale;
  canvas.height = bitmap.height * scale;
  canvas.getContext("2d")?.drawImage(bitmap, 0, 0, canvas.width, canvas.height);
  canvases.set(bitmap, canvas);
  return canvas;
}
