import type { Capability } from "@mantel/plugin-sdk";
import { choicesBy, choicesIn, hasFeature, numberIn, rounded, textIn, when } from "./attributes.ts";
import { toCelsius } from "./convert-sensor.ts";
import { type Call, choice, type Domain, stateText, TEXT, type TemperatureUnit } from "./domain.ts";
import type { Attributes, Entity } from "./entities.ts";

const TARGET = 1;
const TARGET_RANGE = 2;
const FAN_MODE = 8;
const PRESET = 16;

const CELSIUS = { type: "number", unit: "°C", readOnly: true } as const;
const HUMIDITY = { type: "number", unit: "%", readOnly: true } as const;

/** `climate`: a thermostat, in °C whatever unit the home uses. */
export const climate: Domain = {
  describe(entity, unit) {
    const { attributes } = entity;
    const targets = targetsOf(attributes);
    const settable = targetCapability(attributes, unit);
    const humidity = numberIn(attributes, "current_humidity");
    return {
      kind: "thermostat",
      capabilities: {
        temperature: CELSIUS,
        ...Object.fromEntries(targets.map(([field]) => [field, settable])),
        ...choice("mode", choicesIn(attributes, "hvac_modes")),
        ...choice("preset", choicesBy(attributes, PRESET, "preset_modes")),
        ...choice("fanMode", choicesBy(attributes, FAN_MODE, "fan_modes")),
        action: TEXT,
        ...when(humidity !== undefined, { humidity: HUMIDITY }),
      },
      state: {
        temperature: celsiusIn(attributes, "current_temperature", unit),
        ...Object.fromEntries(
          targets.map(([field, name]) => [field, celsiusIn(attributes, name, unit)]),
        ),
        mode: stateText(entity),
        preset: textIn(attributes, "preset_mode"),
        fanMode: textIn(attributes, "fan_mode"),
        action: textIn(attributes, "hvac_action") ?? null,
        humidity,
      },
    };
  },

  calls({ mode, preset, fanMode, ...targets }, entity, unit) {
    return [
      ...(mode === undefined ? [] : [call("set_hvac_mode", { hvac_mode: mode })]),
      ...(preset === undefined ? [] : [call("set_preset_mode", { preset_mode: preset })]),
      ...(fanMode === undefined ? [] : [call("set_fan_mode", { fan_mode: fanMode })]),
      ...temperatureCall(targets, entity, unit),
    ];
  },
};

const call = (name: string, data: Call["data"] & object): Call => ({
  service: `climate.${name}`,
  data,
});

/** Fields of targets, with the attributes that hold them. */
function targetsOf(attributes: Attributes): [field: string, attribute: string][] {
  return [
    ...(hasFeature(attributes, TARGET) ? ([["targetTemperature", "temperature"]] as const) : []),
    ...(hasFeature(attributes, TARGET_RANGE)
      ? ([
          ["targetTemperatureLow", "target_temp_low"],
          ["targetTemperatureHigh", "target_temp_high"],
        ] as const)
      : []),
  ].map(([field, attribute]) => [field, attribute]);
}

function targetCapability(attributes: Attributes, unit: TemperatureUnit): Capability {
  const min = celsiusIn(attributes, "min_temp", unit);
  const max = celsiusIn(attributes, "max_temp", unit);
  const step = numberIn(attributes, "target_temp_step") ?? 0.5;
  return {
    type: "number",
    ...(min === null || max === null || min >= max ? {} : { min, max }),
    ...(step > 0 ? { step: unit === "°F" ? 0.5 : step } : {}),
    unit: "°C",
  };
}

/** A range is set as a whole, so the end that was not asked for stays as it is. */
function temperatureCall(
  command: Readonly<Record<string, unknown>>,
  { attributes }: Entity,
  unit: TemperatureUnit,
): Call[] {
  const asked = targetsOf(attributes).filter(([field]) => command[field] !== undefined);
  if (asked.length === 0) return [];
  const names = asked.some(([field]) => field !== "targetTemperature")
    ? ["target_temp_low", "target_temp_high"]
    : [];
  const kept = names.map((name) => [name, numberIn(attributes, name)] as const);
  const set = asked.map(
    ([field, name]) => [name, fromCelsius(Number(command[field]), unit)] as const,
  );
  const given = [...kept, ...set].filter(([, value]) => value !== undefined);
  return [call("set_temperature", Object.fromEntries(given))];
}

function celsiusIn(attributes: Attributes, name: string, unit: TemperatureUnit): number | null {
  const value = numberIn(attributes, name);
  return value === undefined ? null : toCelsius(value, unit);
}

function fromCelsius(celsius: number, unit: TemperatureUnit): number {
  return unit === "°F" ? rounded(celsius * 1.8 + 32, 1) : celsius;
}
