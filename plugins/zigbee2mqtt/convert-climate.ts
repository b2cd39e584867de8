import type { DeviceKind } from "@mantel/plugin-sdk";
import { climateKind } from "@mantel/plugin-sdk/vocabulary";
import { type Draft, draftOf, plainDrafts } from "./drafts.ts";
import type { Expose } from "./exposes.ts";
import { formOf, isSettable, renamedChoice } from "./forms.ts";

const MODES = { fan_only: "fan-only", heat_cool: "heat-cool" };

const ACTIONS = {
  idle: "idle",
  off: "off",
  heat: "heating",
  heating: "heating",
  cool: "cooling",
  cooling: "cooling",
  fan_only: "fan",
  dry: "drying",
};

const NAMES: Readonly<Record<string, string>> = {
  local_temperature: "temperature",
  current_temperature: "temperature",
  current_heating_setpoint: "targetTemperature",
  target_temperature: "targetTemperature",
  fan_mode: "fanMode",
  swing_mode: "swing",
  preset: "preset",
};

/** A thermostat, or an air conditioner. */
export function kindOfClimate({ features }: Pick<Expose, "features">): DeviceKind {
  return climateKind(features.find(({ name }) => name === "system_mode")?.values ?? []);
}

/** A thermostat. One that heats and cools to targets of their own has a low and a high target. */
export function climateDrafts({ features }: Expose): Draft[] {
  const has = (name: string) => features.some((each) => each.name === name);
  const isRange = has("occupied_heating_setpoint") && has("occupied_cooling_setpoint");
  return features.flatMap((each) => {
    switch (each.name) {
      case "occupied_heating_setpoint":
        return named(each, isRange ? "targetTemperatureLow" : "targetTemperature");
      case "occupied_cooling_setpoint":
        return named(each, isRange ? "targetTemperatureHigh" : "targetTemperature");
      case "system_mode":
        return [draftOf(each, renamedChoice(each, MODES), { name: "mode" })];
      case "running_state":
        return [draftOf(each, renamedChoice(each, ACTIONS), { name: "action" })];
      default:
        return Object.hasOwn(NAMES, each.name) ? named(each, NAMES[each.name]) : plainDrafts(each);
    }
  });
}

/** A setting beside the thermostat that has the meaning of one in it; `undefined` for all else. */
export function climateDraft(expose: Expose): Draft[] | undefined {
  const { name, type } = expose;
  if (name === "state" && type === "binary" && isSettable(expose)) return named(expose, "on");
  if (name === "schedule_text" && type === "text") return named(expose, "schedule");
  const isKnown = name === "fan_mode" || name === "swing_mode" || name === "preset";
  return isKnown && type === "enum" ? named(expose, NAMES[name]) : undefined;
}

function named(expose: Expose, name = ""): Draft[] {
  return [draftOf(expose, formOf(expose), { name })];
}
