import { html, nothing, type TemplateResult } from "lit";
import { type Photo, photoPath } from "../photos.ts";
import type { UiSettings } from "../store.ts";
import { words } from "./words.ts";

/** Saves a part of the `ui` section. */
type SaveUi = (patch: object) => void;

/** The accents with the keys of their names. */
const ACCENTS = [
  ["none", "accentNone"],
  ["amber", "accentAmber"],
  ["coral", "accentCoral"],
  ["rose", "accentRose"],
  ["violet", "accentViolet"],
  ["blue", "accentBlue"],
  ["teal", "accentTeal"],
  ["green", "accentGreen"],
] as const;

/** The choice of the accent colour. */
export function accentView(ui: UiSettings, save: SaveUi): TemplateResult {
  const chosen: string = ui.accent ?? "none";
  const texts = words.value;
  return html`<section class="panel setting-rows">
    <fieldset class="look-choice" data-setting="accent">
      <legend>${texts.accent}</legend>
      <p class="hint">${texts.accentHint}</p>
      ${ACCENTS.map(
        ([each, name]) =>
          html`<label data-accent=${each}>
            <input
              type="radio"
              name="accent"
              value=${each}
              .checked=${each === chosen}
              @change=${() => save({ accent: each === "none" ? null : each })}
            />
            <span class="swatch"></span>
            ${texts[name]}
          </label>`,
      )}
    </fieldset>
  </section>`;
}

/** The choice of the photo behind the pages; nothing without photos. */
export function wallpaperView(
  { wallpaper }: UiSettings,
  photos: readonly Photo[],
  save: SaveUi,
): TemplateResult | typeof nothing {
  const texts = words.value;
  if (photos.length === 0 && !wallpaper) return nothing;
  const chosen = wallpaper && photoPath(wallpaper);
  const choice = (photo: Photo | undefined): TemplateResult => {
    const path = photo && photoPath(photo);
    return html`<label title=${photo?.name ?? texts.wallpaperNone}>
      <input
        type="radio"
        name="wallpaper"
        value=${path ?? ""}
        aria-label=${photo?.name ?? texts.wallpaperNone}
        .checked=${path === chosen}
        @change=${() => save({ wallpaper: photo ? patchOf(photo) : null })}
      />
      ${
        path === undefined
          ? html`<span class="picture">${texts.wallpaperNone}</span>`
          : html`<canvas class="picture" width="256" height="160" data-photo=${path}></canvas>`
      }
    </label>`;
  };
  return html`<section class="panel setting-rows">
    <fieldset class="look-choice" data-setting="wallpaper">
      <legend>${texts.wallpaper}</legend>
      <p class="hint">${texts.wallpaperHint}</p>
      ${choice(undefined)} ${photos.map(choice)}
    </fieldset>
  </section>`;
}

/** A photo as a merge patch (RFC 7386), which keeps the album of the photo before unless it is null. */
function patchOf({ name, album = null }: Omit<Photo, "album"> & { album?: string | null }): object {
  return { name, album };
}
