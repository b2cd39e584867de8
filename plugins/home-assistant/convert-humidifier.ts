import type { Capability } from "@mantel/plugin-sdk";
import { choicesBy, numberIn, textIn, when } from "./attributes.ts";
import { callsFor, choice, type Domain, onOff, SWITCH, whole } from "./domain.ts";
import type { Attributes } from "./entities.ts";

const MODES = 1;
const HUMIDITY = { type: "number", unit: "%", readOnly: true } as const;
const ACTIONS = ["off", "idle", "humidifying", "drying"];

/** `humidifier`, which is a dehumidifier by its class. */
export const humidifier: Domain = {
  describe(entity) {
    const { attributes } = entity;
    const humidity = numberIn(attributes, "current_humidity");
    const action = textIn(attributes, "action");
    return {
      kind: attributes["device_class"] === "dehumidifier" ? "dehumidifier" : "humidifier",
      capabilities: {
        on: SWITCH,
        targetHumidity: targetHumidity(attributes),
        ...when(humidity !== undefined, { humidity: HUMIDITY }),
        ...choice("mode", choicesBy(attributes, MODES, "available_modes")),
        ...(action === undefined ? {} : choice("action", ACTIONS, true)),
      },
      state: {
        on: onOff(entity),
        targetHumidity: numberIn(attributes, "humidity") ?? null,
        humidity,
        mode: textIn(attributes, "mode"),
        action,
      },
    };
  },

  calls: (command) =>
    callsFor(command, {
      on: (on) => ({ service: `humidifier.turn_${on === true ? "on" : "off"}` }),
      mode: (mode) => ({ service: "humidifier.set_mode", data: { mode } }),
      targetHumidity: (humidity) => ({
        service: "humidifier.set_humidity",
        data: { humidity: whole(humidity) },
      }),
    }),
};

/** A target humidity, with bounds if they are plausible. */
export function targetHumidity(attributes: Attributes): Capability {
  const min = numberIn(attributes, "min_humidity") ?? 0;
  const max = numberIn(attributes, "max_humidity") ?? 100;
  const step = numberIn(attributes, "target_humidity_step") ?? 1;
  const hasBounds = min >= 0 && min < max && max <= 100;
  return {
    type: "number",
    ...(hasBounds ? { min, max } : { min: 0, max: 100 }),
    step: step > 0 ? step : 1,
    unit: "%",
  };
}
