import type { DeviceCommand } from "@mantel/plugin-sdk";
import { climateKind } from "@mantel/plugin-sdk/vocabulary";
import { choicesBy, choicesIn, hasFeature, numberIn, textIn, when } from "./attributes.ts";
import { targetHumidity } from "./convert-humidifier.ts";
import {
  asText,
  type Call,
  callsFor,
  choice,
  type Domain,
  extras,
  stateText,
  type TemperatureUnit,
  whole,
} from "./domain.ts";
import type { Attributes, Entity } from "./entities.ts";
import { CELSIUS, celsiusIn, fromCelsius, targetTemperature } from "./temperature.ts";

const FEATURE = {
  target: 1,
  targetRange: 2,
  targetHumidity: 4,
  fanMode: 8,
  preset: 16,
  swing: 32,
  swingHorizontal: 512,
} as const;

const HUMIDITY = { type: "number", unit: "%", readOnly: true } as const;
const ACTIONS = ["off", "idle", "heating", "cooling", "drying", "fan", "preheating", "defrosting"];

/** Modes that have another name in Home Assistant. */
const THEIR_MODES: ReadonlyMap<string, string> = new Map([
  ["heat-cool", "heat_cool"],
  ["fan-only", "fan_only"],
]);
const OUR_MODES: ReadonlyMap<string, string> = new Map(
  [...THEIR_MODES].map(([ours, theirs]) => [theirs, ours]),
);
const ourMode = (mode: string): string => OUR_MODES.get(mode) ?? mode;

/** `climate`: a thermostat or an air conditioner, in °C whatever unit the home uses. */
export const climate: Domain = {
  describe(entity, unit) {
    const { attributes } = entity;
    const targets = targetsOf(attributes);
    const target = targetTemperature(attributes, unit);
    const humidity = numberIn(attributes, "current_humidity");
    const modes = choicesIn(attributes, "hvac_modes").map(ourMode);
    const mode = stateText(entity);
    const swings = choicesBy(attributes, FEATURE.swingHorizontal, "swing_horizontal_modes");
    return {
      kind: climateKind(modes),
      capabilities: {
        temperature: CELSIUS,
        ...Object.fromEntries(targets.map(([field]) => [field, target])),
        ...choice("mode", modes),
        ...choice("preset", choicesBy(attributes, FEATURE.preset, "preset_modes")),
        ...choice("fanMode", choicesBy(attributes, FEATURE.fanMode, "fan_modes")),
        ...choice("swing", choicesBy(attributes, FEATURE.swing, "swing_modes")),
        ...choice("action", ACTIONS, true),
        ...when(humidity !== undefined, { humidity: HUMIDITY }),
        ...when(hasFeature(attributes, FEATURE.targetHumidity), {
          targetHumidity: targetHumidity(attributes),
        }),
      },
      ...when(swings.length > 0, { extra: extras(choice("swingHorizontal", swings)) }),
      state: {
        temperature: celsiusIn(attributes, "current_temperature", unit),
        ...Object.fromEntries(
          targets.map(([field, name]) => [field, celsiusIn(attributes, name, unit)]),
        ),
        mode: mode === null ? null : ourMode(mode),
        preset: textIn(attributes, "preset_mode"),
        fanMode: textIn(attributes, "fan_mode"),
        swing: textIn(attributes, "swing_mode"),
        swingHorizontal: textIn(attributes, "swing_horizontal_mode"),
        action: textIn(attributes, "hvac_action") ?? null,
        humidity,
        targetHumidity: numberIn(attributes, "humidity") ?? null,
      },
    };
  },

  calls(command, entity, unit) {
    const settings = callsFor(command, {
      mode: (mode) => call("set_hvac_mode", { hvac_mode: THEIR_MODES.get(asText(mode)) ?? mode }),
      preset: (preset) => call("set_preset_mode", { preset_mode: preset }),
      fanMode: (fanMode) => call("set_fan_mode", { fan_mode: fanMode }),
      swing: (swing) => call("set_swing_mode", { swing_mode: swing }),
      swingHorizontal: (swing) =>
        call("set_swing_horizontal_mode", { swing_horizontal_mode: swing }),
      targetHumidity: (humidity) => call("set_humidity", { humidity: whole(humidity) }),
    });
    return [...settings, ...temperatureCall(command, entity, unit)];
  },
};

const call = (name: string, data: Call["data"] & object): Call => ({
  service: `climate.${name}`,
  data,
});

/** Fields of targets, with the attributes that hold them. */
function targetsOf(attributes: Attributes): [field: string, attribute: string][] {
  return [
    ...(hasFeature(attributes, FEATURE.target)
      ? ([["targetTemperature", "temperature"]] as const)
      : []),
    ...(hasFeature(attributes, FEATURE.targetRange)
      ? ([
          ["targetTemperatureLow", "target_temp_low"],
          ["targetTemperatureHigh", "target_temp_high"],
        ] as const)
      : []),
  ].map(([field, attribute]) => [field, attribute]);
}

/** A range is set as a whole, so the end that was not asked for stays as it is. */
function temperatureCall(
  command: DeviceCommand,
  { attributes }: Entity,
  unit: TemperatureUnit,
): Call[] {
  const asked = targetsOf(attributes).filter(([field]) => command[field] !== undefined);
  if (asked.length === 0) return [];
  const names = asked.some(([field]) => field !== "targetTemperature")
    ? ["target_temp_low", "target_temp_high"]
    : [];
  const present = names.map((name) => [name, numberIn(attributes, name)] as const);
  const set = asked.map(
    ([field, name]) => [name, fromCelsius(Number(command[field]), unit)] as const,
  );
  const given = [...present, ...set].filter(([, value]) => value !== undefined);
  return [call("set_temperature", Object.fromEntries(given))];
}
