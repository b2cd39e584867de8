import { html, nothing, type TemplateResult } from "lit";
import type { DeviceState } from "../device.ts";
import type { Actions } from "./actions.ts";
import { canSet } from "./appearance.ts";
import type { DeviceFunction } from "./functions.ts";

/** A media player tile, two cells wide: title, progress and controls. */
export function mediaTile(device: DeviceFunction, actions: Actions): TemplateResult {
  const state = { ...device.state, ...device.pending };
  const title = playingTitle(state);
  const idle = title === undefined ? actions.t("Nothing plays") : state.artist;
  return html`<div
    class="tile wide media ${actions.statesOf(device)}"
    role="group"
    aria-label=${device.name}
  >
    <div class="art ${title === undefined ? "idle" : ""}" aria-hidden="true"></div>
    <div class="track two-lines">
      <b>${title ?? device.name}</b>
      <p class="said">${actions.wordOf(device) ?? actions.ageOf(device) ?? idle}</p>
      ${title === undefined ? nothing : progress(state)}
    </div>
    <div class="controls">
      ${skipButton(device, actions, "previous")}
      ${playButton(device, actions, state.playback === "playing")}
      ${skipButton(device, actions, "next")}
    </div>
  </div>`;
}

/** The title of what plays; `undefined` if nothing does. */
export function playingTitle({ playback, title }: DeviceState): string | undefined {
  return playback !== "stopped" && typeof title === "string" && title !== "" ? title : undefined;
}

/** The button that plays and pauses. */
export function playButton(device: DeviceFunction, actions: Actions, playing: boolean): unknown {
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

/** The button to another track. */
export function skipButton(
  device: DeviceFunction,
  actions: Actions,
  way: "previous" | "next",
): unknown {
  if (!canSet(device, way)) return nothing;
  return html`<button
    aria-label=${actions.t(way === "next" ? "Next" : "Previous")}
    @click=${() => void actions.send(device, { [way]: true })}
  >
    <mantel-icon name="mdi:skip-${way}"></mantel-icon>
  </button>`;
}

function progress({ elapsed, duration }: DeviceState): unknown {
  if (typeof elapsed !== "number" || typeof duration !== "number" || duration <= 0) return nothing;
  const percent = Math.min(100, (elapsed / duration) * 100);
  return html`<div class="bar"><i .style=${`width: ${percent}%`}></i></div>`;
}
