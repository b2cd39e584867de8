import { choicesBy, hasFeature, numberIn, textIn, when } from "./attributes.ts";
import { asText, callsFor, choice, type Domain, isKnown, SWITCH } from "./domain.ts";
import { CELSIUS, celsiusIn, fromCelsius, targetTemperature } from "./temperature.ts";

const FEATURE = { target: 1, mode: 2, away: 4, onOff: 8 } as const;

/** `water_heater`. Its modes are words with `_` there. */
export const waterHeater: Domain = {
  describe(entity, unit) {
    const { attributes } = entity;
    const has = (name: keyof typeof FEATURE): boolean => hasFeature(attributes, FEATURE[name]);
    const modes = choicesBy(attributes, FEATURE.mode, "operation_list");
    const mode = textIn(attributes, "operation_mode") ?? entity.state;
    const measures = numberIn(attributes, "current_temperature") !== undefined;
    return {
      kind: "water-heater",
      capabilities: {
        ...when(has("onOff"), { on: SWITCH }),
        ...when(measures, { temperature: CELSIUS }),
        ...when(has("target"), { targetTemperature: targetTemperature(attributes, unit) }),
        ...choice("mode", modes.map(ourMode)),
        ...when(has("away"), { away: SWITCH }),
      },
      state: {
        on: isKnown(entity) ? entity.state !== "off" : null,
        temperature: celsiusIn(attributes, "current_temperature", unit),
        targetTemperature: celsiusIn(attributes, "temperature", unit),
        mode: isKnown(entity) ? ourMode(mode) : null,
        away: AWAY[textIn(attributes, "away_mode") ?? ""] ?? null,
      },
    };
  },

  calls: (command, { attributes }, unit) =>
    callsFor(command, {
      on: (on) => ({ service: `water_heater.turn_${on === true ? "on" : "off"}` }),
      away: (away) => ({ service: "water_heater.set_away_mode", data: { away_mode: away } }),
      mode: (mode) => ({
        service: "water_heater.set_operation_mode",
        data: {
          operation_mode: theirMode(
            asText(mode),
            choicesBy(attributes, FEATURE.mode, "operation_list"),
          ),
        },
      }),
      targetTemperature: (celsius) => ({
        service: "water_heater.set_temperature",
        data: { temperature: fromCelsius(Number(celsius), unit) },
      }),
    }),
};

const AWAY: Readonly<Record<string, boolean>> = { on: true, off: false };

const ourMode = (mode: string): string => mode.replaceAll("_", "-");

function theirMode(mode: string, modes: readonly string[]): string {
  return modes.find((theirs) => ourMode(theirs) === mode) ?? mode;
}
