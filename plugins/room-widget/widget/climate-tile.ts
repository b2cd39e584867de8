import type { Device } from "@mantel/plugin-sdk/widget";
import { html } from "lit";
import type { Actions } from "./actions.ts";
import { iconOf } from "./icon.ts";

/** A thermostat over two cells: what it is, what is asked for, and warmer and cooler. */
export function climateTile(device: Device, actions: Actions): unknown {
  const { unit } = actions.ctx.fmt;
  const state = { ...device.state, ...device.pending };
  const { temperature, targetTemperature: target, heating, mode } = state;
  const word = actions.wordOf(device);
  const on = mode !== "off" && device.available;
  const pending = Object.keys(device.pending).length > 0;
  const stale = !actions.ctx.online.value;
  return html`<div
    class="tile wide climate ${on ? "on" : ""} ${pending ? "pending" : ""} ${word ? "word" : ""} ${stale
      ? "stale"
      : ""}"
    .style=${"--hue: var(--mantel-hue-heat)"}
    role="group"
    aria-label=${device.name}
  >
    <span class="icon"><mantel-icon name=${iconOf(device)}></mantel-icon></span>
    <span class="big">${typeof temperature === "number" ? unit(temperature, "temperature") : "–"}</span>
    <span class="set">${typeof target === "number" ? stepper(device, target, actions) : ""}</span>
    <span class="name">
      ${device.name} <em>· ${word ?? sentence(mode, heating === true, target, unit)}</em>
    </span>
  </div>`;
}

function stepper(device: Device, target: number, actions: Actions): unknown {
  const capability = device.capabilities.targetTemperature;
  const { min = 5, max = 30, step = 0.5 } = capability?.type === "number" ? capability : {};
  const change = (by: number) => () => {
    const next = Math.max(min, Math.min(max, Math.round((target + by) / step) * step));
    void actions.send(device, { targetTemperature: next });
  };
  return html`<button aria-label="Cooler" ?disabled=${target <= min} @click=${change(-step)}>
      <mantel-icon name="mdi:minus"></mantel-icon></button
    ><b aria-live="polite">${actions.ctx.fmt.unit(target, "temperature")}</b
    ><button aria-label="Warmer" ?disabled=${target >= max} @click=${change(step)}>
      <mantel-icon name="mdi:plus"></mantel-icon>
    </button>`;
}

type UnitFormat = Actions["ctx"]["fmt"]["unit"];

function sentence(mode: unknown, heating: boolean, target: unknown, unit: UnitFormat): string {
  if (mode === "off") return "off";
  if (!heating) return "holds";
  return typeof target === "number" ? `heats to ${unit(target, "temperature")}` : "heats";
}
