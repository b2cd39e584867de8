import { percentToSpeed, speedToPercent } from "@mantel/plugin-sdk";
import { choicesBy, hasFeature, mapped, numberIn, textIn, when } from "./attributes.ts";
import { callsFor, choice, type Domain, onOff, PERCENT, SWITCH } from "./domain.ts";
import type { Attributes } from "./entities.ts";

const FEATURE = { speed: 1, oscillate: 2, direction: 4, preset: 8 } as const;
const MOST_SPEEDS = 100;

export const fan: Domain = {
  describe(entity) {
    const { attributes } = entity;
    const has = (name: keyof typeof FEATURE): boolean => hasFeature(attributes, FEATURE[name]);
    const speeds = speedsOf(attributes);
    return {
      kind: "fan",
      capabilities: {
        on: SWITCH,
        ...when(has("speed"), { speed: { ...PERCENT, step: 100 / speeds } }),
        ...when(has("oscillate"), { oscillating: SWITCH }),
        ...choice("direction", has("direction") ? ["forward", "reverse"] : []),
        ...choice("preset", choicesBy(attributes, FEATURE.preset, "preset_modes")),
      },
      state: {
        on: onOff(entity),
        speed: mapped(numberIn(attributes, "percentage"), (told) => shownPercent(told, speeds)),
        oscillating: attributes["oscillating"] === true,
        direction: textIn(attributes, "direction"),
        preset: textIn(attributes, "preset_mode"),
      },
    };
  },

  calls(command, { attributes }) {
    if (command["on"] === false) return [{ service: "fan.turn_off" }];
    const speeds = speedsOf(attributes);
    return callsFor(command, {
      on: () => ({ service: "fan.turn_on" }),
      speed: (speed) => ({
        service: "fan.set_percentage",
        data: { percentage: sentPercent(Number(speed), speeds) },
      }),
      oscillating: (oscillating) => ({ service: "fan.oscillate", data: { oscillating } }),
      direction: (direction) => ({ service: "fan.set_direction", data: { direction } }),
      preset: (preset) => ({ service: "fan.set_preset_mode", data: { preset_mode: preset } }),
    });
  },

  confirms({ field, value }, { attributes }) {
    const told = numberIn(attributes, "percentage");
    if (field !== "speed" || told === undefined || typeof value !== "number") return undefined;
    const speeds = speedsOf(attributes);
    return Math.abs(told - speedToPercent(percentToSpeed(value, speeds), speeds)) <= 1;
  },
};

/** The number of speeds. Home Assistant may round the step, and 33.33 means a third. */
function speedsOf(attributes: Attributes): number {
  const step = numberIn(attributes, "percentage_step") ?? 0;
  const speeds = step > 0 ? Math.round(100 / step) : MOST_SPEEDS;
  return Math.min(MOST_SPEEDS, Math.max(1, speeds));
}

/** The percentage of a speed that Home Assistant cut or rounded to a whole one: 66 and 67 are speed 2 of 3. */
function shownPercent(told: number, speeds: number): number {
  const exact = (told / 100) * speeds;
  const speed = speeds > 50 ? percentToSpeed(told, speeds) : Math.round(exact);
  const percent = speedToPercent(speed, speeds);
  return Math.abs(percent - told) < 1 ? percent : told;
}

/** Cut as in Home Assistant, because integrations round up: of three speeds 67 % would be the third. */
function sentPercent(percent: number, speeds: number): number {
  return Math.floor(speedToPercent(percentToSpeed(percent, speeds), speeds) + 1e-3);
}
