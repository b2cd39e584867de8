import { html, type TemplateResult } from "lit";
import type { Device } from "../widget.ts";
import type { Actions } from "./actions.ts";
import { iconOf } from "./device-icon.ts";

/** A thermostat tile, two cells wide: current and target temperature, with buttons for warmer and cooler. */
export function climateTile(device: Device, actions: Actions): TemplateResult {
  const { temperature, targetTemperature: target, mode } = { ...device.state, ...device.pending };
  const on = mode !== "off" && device.available ? "on" : "";
  const age = actions.ageOf(device);
  return html`<div
    class="tile wide climate ${on} ${actions.statesOf(device)}"
    .style=${"--hue: var(--mantel-hue-heat)"}
    role="group"
    aria-label=${device.name}
  >
    <span class="icon"><mantel-icon name=${iconOf(device)}></mantel-icon></span>
    <span class="big">
      ${typeof temperature === "number" ? actions.fmt.unit(temperature, "temperature") : "–"}
    </span>
    <span class="set">${typeof target === "number" ? stepper(device, target, actions) : ""}</span>
    <span class="name">
      <bdi>${device.name}</bdi>
      <em>· ${actions.wordOf(device) ?? age ?? sentence(device, target, actions)}</em>
    </span>
  </div>`;
}

function stepper(device: Device, target: number, actions: Actions): TemplateResult {
  const { t, fmt } = actions;
  const capability = device.capabilities.targetTemperature;
  const { min = 5, max = 30, step = 0.5 } = capability?.type === "number" ? capability : {};
  const change = (by: number) => () => {
    const next = Math.max(min, Math.min(max, Math.round((target + by) / step) * step));
    void actions.send(device, { targetTemperature: next });
  };
  return html`<button aria-label=${t("Cooler")} ?disabled=${target <= min} @click=${change(-step)}>
      <mantel-icon name="mdi:minus"></mantel-icon>
    </button>
    <b aria-live="polite">${fmt.unit(target, "temperature")}</b>
    <button aria-label=${t("Warmer")} ?disabled=${target >= max} @click=${change(step)}>
      <mantel-icon name="mdi:plus"></mantel-icon>
    </button>`;
}

function sentence({ state }: Device, target: unknown, { t, fmt }: Actions): string {
  if (state.mode === "off") return t("off");
  if (state.heating !== true) return t("holds");
  return typeof target === "number"
    ? t("heats to {target}", { target: fmt.unit(target, "temperature") })
    : t("heats");
}
