import { choicesBy, hasFeature, mapped, numberIn, textIn, when } from "./attributes.ts";
import { callsFor, choice, type Domain, onOff, PERCENT, SWITCH } from "./domain.ts";
import type { Attributes } from "./entities.ts";

const FEATURE = { speed: 1, oscillate: 2, direction: 4, preset: 8 } as const;
const MOST_SPEEDS = 100;

export const fan: Domain = {
  describe(entity) {
    const { attributes } = entity;
    const has = (name: keyof typeof FEATURE): boolean => hasFeature(attributes, FEATURE[name]);
    const step = stepOf(attributes);
    return {
      kind: "fan",
      capabilities: {
        on: SWITCH,
        ...when(has("speed"), { speed: { ...PERCENT, step } }),
        ...when(has("oscillate"), { oscillating: SWITCH }),
        ...choice("direction", has("direction") ? ["forward", "reverse"] : []),
        ...choice("preset", choicesBy(attributes, FEATURE.preset, "preset_modes")),
      },
      state: {
        on: onOff(entity),
        speed: mapped(numberIn(attributes, "percentage"), (speed) => atStep(speed, step)),
        oscillating: attributes["oscillating"] === true,
        direction: textIn(attributes, "direction"),
        preset: textIn(attributes, "preset_mode"),
      },
    };
  },

  calls(command, { attributes }) {
    if (command["on"] === false) return [{ service: "fan.turn_off" }];
    const step = stepOf(attributes);
    return callsFor(command, {
      on: () => ({ service: "fan.turn_on" }),
      speed: (speed) => ({
        service: "fan.set_percentage",
        data: { percentage: wholePercent(Number(speed), step) },
      }),
      oscillating: (oscillating) => ({ service: "fan.oscillate", data: { oscillating } }),
      direction: (direction) => ({ service: "fan.set_direction", data: { direction } }),
      preset: (preset) => ({ service: "fan.set_preset_mode", data: { preset_mode: preset } }),
    });
  },

  /** A speed between two steps becomes one of them, because the fan has no other. */
  confirms({ field, value }, { attributes }) {
    const told = numberIn(attributes, "percentage");
    if (field !== "speed" || told === undefined || typeof value !== "number") return undefined;
    const step = stepOf(attributes);
    const tolerance = isStep(value, step) ? 1 : step;
    return Math.abs(told - value) <= tolerance;
  },
};

/** Percent between two speeds. Home Assistant may round it, and 33.33 means a third. */
function stepOf(attributes: Attributes): number {
  const step = numberIn(attributes, "percentage_step") ?? 0;
  const speeds = step > 0 ? Math.round(100 / step) : MOST_SPEEDS;
  return 100 / Math.min(MOST_SPEEDS, Math.max(1, speeds));
}

/** The speed whose percentage, cut or rounded to a whole one, this may be. */
function nearestSpeed(percentage: number, step: number): number {
  const speed = percentage / step;
  return step > 1 && step < 2 ? Math.ceil(speed - 1e-3) : Math.round(speed);
}

function isStep(percentage: number, step: number): boolean {
  return Math.abs(nearestSpeed(percentage, step) * step - percentage) < 1;
}

/** The exact percentage of a speed: of three speeds the second is 66 there, and 66.67 here. */
function atStep(percentage: number, step: number): number {
  if (!isStep(percentage, step)) return percentage;
  return Math.min(100, nearestSpeed(percentage, step) * step);
}

/** Cuts a percentage as Home Assistant does. Of three speeds 67 % would be the third, because integrations round up. */
function wholePercent(percentage: number, step: number): number {
  return Math.floor(atStep(percentage, step) + 1e-3);
}
