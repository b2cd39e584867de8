import { html, nothing, type TemplateResult } from "lit";
import type { Device, DeviceState } from "../device.ts";
import type { Actions } from "./actions.ts";
import { canSet } from "./appearance.ts";
import { cameraTile, canvasOf } from "./camera-tile.ts";
import { isPlayer, tileOf } from "./device-tile.ts";
import type { DeviceFunction } from "./functions.ts";
import { livePictureOf } from "./live-picture.ts";
import { playButton, playingTitle, skipButton } from "./media-tile.ts";
import { companionsOf } from "./player-group.ts";

/** Further content of a tile. */
interface Beyond {
  /** All players, so that those that play along can be named. */
  readonly players?: readonly Device[];
  /** True for the live picture of a camera. */
  readonly live?: boolean;
}

/**
 * The tile of a device; of a player with the cover of the track, its position, the volume and those of `players` that
 * play it too, and with `live`, of a camera with its live picture.
 */
export function fullTileOf(
  device: DeviceFunction,
  actions: Actions,
  { players = [], live = false }: Beyond = {},
): TemplateResult {
  if (isPlayer(device)) return playerCard(device, actions, players);
  if (!live || device.image !== true) return tileOf(device, actions);
  return cameraTile(device, actions, livePictureOf(device, actions));
}

/**
 * A player with the cover and title of a track, its position, the volume and buttons. It is not part of `deviceTile`,
 * which a wall shows first. The widget's `styles` must include `player-card.css` after `DEVICE_TILE_STYLES`.
 */
function playerCard(
  device: DeviceFunction,
  actions: Actions,
  players: readonly Device[],
): TemplateResult {
  const state = { ...device.state, ...device.pending };
  const title = playingTitle(state);
  const artist = typeof state.artist === "string" ? state.artist : "";
  const playing = [artist, alsoPlayedBy(device, players)].filter(Boolean).join(" · ");
  const idle = title === undefined ? actions.t("Nothing plays") : playing;
  return html`<div
    class="tile wide media player ${actions.statesOf(device)}"
    role="group"
    aria-label=${device.name}
  >
    ${artOf(device, actions, title !== undefined)}
    <div class="track two-lines">
      <b>${title ?? device.name}</b>
      <p class="said">${actions.wordOf(device) ?? actions.ageOf(device) ?? idle}</p>
    </div>
    <div class="controls">
      ${skipButton(device, actions, "previous")}
      ${playButton(device, actions, state.playback === "playing")}
      ${skipButton(device, actions, "next")}
    </div>
    ${title === undefined ? nothing : progress(device, actions, state)}
    ${canSet(device, "volume") ? volume(device, actions, state) : nothing}
  </div>`;
}

/** Such as "+ Kitchen, Bath"; empty if it plays alone. */
function alsoPlayedBy(device: Device, players: readonly Device[]): string {
  const companions = companionsOf(device, players).filter(({ isIn }) => isIn);
  return companions.length === 0
    ? ""
    : `+ ${companions.map(({ player }) => player.name).join(", ")}`;
}

function artOf(device: DeviceFunction, actions: Actions, plays: boolean): TemplateResult {
  const bitmap = device.image === true && plays ? actions.pictureOf(device).bitmap : undefined;
  return html`<div class="art ${plays ? "" : "idle"} ${bitmap ? "drawn" : ""}" aria-hidden="true">
    ${bitmap ? canvasOf(bitmap) : nothing}
  </div>`;
}

/** The position in the track, which a drag changes if the player can seek. */
function progress(
  device: DeviceFunction,
  actions: Actions,
  { elapsed, duration }: DeviceState,
): unknown {
  if (typeof elapsed !== "number" || typeof duration !== "number" || duration <= 0) return nothing;
  const percent = Math.min(100, (elapsed / duration) * 100);
  if (!canSet(device, "elapsed")) {
    return html`<div class="bar"><i .style=${`width: ${percent}%`}></i></div>`;
  }
  return html`<input
    class="seek"
    type="range"
    min="0"
    max=${Math.floor(duration)}
    aria-label=${actions.t("Position in the track")}
    aria-valuetext="${minutes(elapsed)} / ${minutes(duration)}"
    .value=${`${Math.round(elapsed)}`}
    .style=${`--percent: ${percent}%`}
    @change=${follow((next) => void actions.send(device, { elapsed: next }))}
  />`;
}

function volume(device: DeviceFunction, actions: Actions, state: DeviceState): TemplateResult {
  const level = typeof state.volume === "number" ? state.volume : 0;
  const icon = state.muted === true || level === 0 ? "mdi:volume-off" : "mdi:volume-medium";
  return html`<label class="volume">
    <mantel-icon name=${icon}></mantel-icon>
    <input
      type="range"
      min="0"
      max="100"
      aria-label=${actions.t("Volume")}
      aria-valuetext=${actions.fmt.unit(level, "percent")}
      .value=${`${Math.round(level)}`}
      .style=${`--percent: ${level}%`}
      @input=${follow((next) => void actions.send(device, { volume: next }))}
    />
  </label>`;
}

function follow(send: (value: number) => void): (event: Event) => void {
  return ({ currentTarget }) => {
    if (currentTarget instanceof HTMLInputElement) send(currentTarget.valueAsNumber);
  };
}

/** Seconds such as 214 as "3:34". */
function minutes(seconds: number): string {
  const whole = Math.round(seconds);
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, "0")}`;
}
