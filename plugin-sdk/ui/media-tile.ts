import { html, nothing, type TemplateResult } from "lit";
import type { DeviceState } from "../device.ts";
import type { Actions } from "./actions.ts";
import { canSet } from "./appearance.ts";
import { canvasOf } from "./camera-tile.ts";
import type { DeviceFunction } from "./functions.ts";

/** A media player tile, two cells wide: the picture and title of a track, its progress, volume and buttons. */
export function mediaTile(device: DeviceFunction, actions: Actions): TemplateResult {
  const state = { ...device.state, ...device.pending };
  const title = playingTitle(state);
  const idle = title === undefined ? actions.t("Nothing plays") : state.artist;
  return html`<div
    class="tile wide media ${actions.statesOf(device)}"
    role="group"
    aria-label=${device.name}
  >
    ${artOf(device, actions, title !== undefined)}
    <div class="track two-lines">
      <b>${title ?? device.name}</b>
      <p class="said">${actions.wordOf(device) ?? actions.ageOf(device) ?? idle}</p>
    </div>
    <div class="controls">
      ${skip(device, actions, "previous")} ${play(device, actions, state.playback === "playing")}
      ${skip(device, actions, "next")}
    </div>
    ${title === undefined ? nothing : progress(device, actions, state)}
    ${canSet(device, "volume") ? volume(device, actions, state) : nothing}
  </div>`;
}

function playingTitle({ playback, title }: DeviceState): string | undefined {
  return playback !== "stopped" && typeof title === "string" && title !== "" ? title : undefined;
}

function play(device: DeviceFunction, actions: Actions, playing: boolean): unknown {
  const { playback } = device.capabilities;
  if (playback?.type !== "choice" || !canSet(device, "playback")) return nothing;
  const rest = playback.values.includes("paused") ? "paused" : "stopped";
  return html`<button
    class="play"
    aria-label=${actions.t(playing ? "Pause" : "Play")}
    @click=${() => void actions.send(device, { playback: playing ? rest : "playing" })}
  >
    <mantel-icon name=${playing ? "mdi:pause" : "mdi:play"}></mantel-icon>
  </button>`;
}

function skip(device: DeviceFunction, actions: Actions, way: "previous" | "next"): unknown {
  if (!canSet(device, way)) return nothing;
  return html`<button
    aria-label=${actions.t(way === "next" ? "Next" : "Previous")}
    @click=${() => void actions.send(device, { [way]: true })}
  >
    <mantel-icon name="mdi:skip-${way}"></mantel-icon>
  </button>`;
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
