import type { Device } from "@mantel/plugin-sdk/widget";
import { html, nothing } from "lit";
import type { Actions } from "./actions.ts";

/** A player over two cells: what plays, how far it is, and its controls. */
export function mediaTile(device: Device, actions: Actions): unknown {
  const state = { ...device.state, ...device.pending };
  const { title, artist, playback } = state;
  const playing = playback === "playing";
  const idle = playback === "stopped" || typeof title !== "string" || title === "";
  const word = actions.wordOf(device);
  const stale = !actions.ctx.online.value;
  return html`<div class="tile wide media ${stale ? "stale" : ""}" role="group" aria-label=${device.name}>
    <div class="art ${idle ? "idle" : ""}" aria-hidden="true"></div>
    <div class="track">
      <b>${idle ? device.name : title}</b>
      <p>${word ?? (idle ? "Nothing plays" : artist)}</p>
      ${idle ? nothing : progress(state.elapsed, state.duration)}
    </div>
    <div class="controls">
      ${skip(device, "previous", "Previous", actions)}
      <button
        class="play"
        aria-label=${playing ? "Pause" : "Play"}
        @click=${() => actions.send(device, { playback: playing ? "paused" : "playing" })}
      >
        <mantel-icon name=${playing ? "mdi:pause" : "mdi:play"}></mantel-icon>
      </button>
      ${skip(device, "next", "Next", actions)}
    </div>
  </div>`;
}

function skip(device: Device, way: "previous" | "next", label: string, actions: Actions): unknown {
  const { skip: capability } = device.capabilities;
  if (capability?.type !== "choice" || !capability.values.includes(way)) return nothing;
  return html`<button aria-label=${label} @click=${() => actions.send(device, { skip: way })}>
    <mantel-icon name="mdi:skip-${way}"></mantel-icon>
  </button>`;
}

function progress(elapsed: unknown, duration: unknown): unknown {
  if (typeof elapsed !== "number" || typeof duration !== "number" || duration <= 0) return nothing;
  return html`<div class="bar"><i .style=${`width: ${Math.min(100, (elapsed / duration) * 100)}%`}></i></div>`;
}
