import {
  type Color,
  type DeviceCommand,
  type DeviceState,
  toLevel,
  toPercent,
} from "@mantel/plugin-sdk";
import { type Input, type CreateHandler, numberIn, UNKNOWN } from "../component-handler.ts";
import { DiscoveryError } from "../discovery-error.ts";
import type { Options, ReadText, Write } from "../options.ts";
import { type Payload } from "../payload.ts";
import type { Value } from "../template/values.ts";
import { COLOR, PERCENT, present, SWITCH } from "./capabilities.ts";
import { fromRgb, toRgb } from "./color.ts";
import { effectsOf, lightRounding, whiteOf } from "./light-common.ts";
import { isOptimistic } from "./simple.ts";

/** Templates always speak of brightness from 0 to 255. */
const SCALE = 255;
const PARTS = ["red_template", "green_template", "blue_template"] as const;

/** A lamp whose one topic is read and written by templates. */
export const templateLight: CreateHandler = (options) => {
  const topic = options.topic("state_topic");
  const white = options.has("color_temp_template") ? whiteOf(options) : undefined;
  const capabilities = present([
    ["on", SWITCH],
    ["brightness", options.has("brightness_template") ? PERCENT : undefined],
    ["colorTemperature", white?.capability],
    ["color", PARTS.every((name) => options.has(name)) ? COLOR : undefined],
    ["effect", effectsOf(options)],
  ]);
  const [turnOn, turnOff] = [
    turning(options, "command_on_template"),
    turning(options, "command_off_template"),
  ];
  return {
    leads: "light",
    capabilities,
    inputs: topic === undefined ? [] : [{ topic, read: reading(options, white?.toOurs) }],
    write: (command) => {
      const values = valuesOf(command, white?.toTheirs);
      return [command["on"] === false ? turnOff(false, values) : turnOn(true, values)];
    },
    rounded: lightRounding(SCALE, white),
    unreported: unreported(options, Object.keys(capabilities)),
  };
};

function turning(options: Options, template: string): Write {
  const write = options.has(template) ? options.writer("command_topic", template) : undefined;
  if (write) return write;
  throw new DiscoveryError(`a template light needs command_topic and ${template}`);
}

/** The fields that have no template to read them are what they were asked to be. */
function unreported(options: Options, names: readonly string[]): Set<string> {
  const isTold = options.has("state_template") && !isOptimistic(options);
  return new Set(
    names.filter((name) => !isTold || (name === "effect" && !options.has("effect_template"))),
  );
}

function reading(options: Options, toKelvin: ((raw: number) => number) | undefined): Input["read"] {
  const reader = (name: string): ReadText =>
    options.has(name) ? options.reader(name) : () => undefined;
  const [state, brightness, white, effect] = [
    ...["state_template", "brightness_template", "color_temp_template", "effect_template"].map(
      reader,
    ),
  ];
  const parts = PARTS.map(reader);
  return (payload) => {
    const level = numberOf(brightness, payload);
    const temperature = numberOf(white, payload);
    const effectNow = effect?.(payload);
    return {
      ...onIn(state?.(payload)),
      ...(level === undefined ? {} : { brightness: toPercent(level, SCALE) }),
      ...(temperature === undefined || !toKelvin
        ? {}
        : { colorTemperature: toKelvin(temperature) }),
      ...colorIn(parts.map((part) => part(payload))),
      ...(effectNow ? { effect: effectNow } : {}),
    };
  };
}

function numberOf(read: ReadText | undefined, payload: Payload): number | undefined {
  return numberIn(read?.(payload) ?? "");
}

function onIn(text: string | undefined): DeviceState {
  const states = new Map([
    ["on", true],
    ["off", false],
    [UNKNOWN, null],
  ]);
  const on = states.get(text ?? "");
  return on === undefined ? {} : { on };
}

function colorIn(parts: readonly (string | undefined)[]): { color?: Color | null } {
  if (parts.every((part) => part === UNKNOWN)) return { color: null };
  const [red, green, blue] = parts.map((part) => numberIn(part ?? ""));
  if (red === undefined || green === undefined || blue === undefined) return {};
  const found = fromRgb([red, green, blue]);
  return found ? { color: found } : {};
}

type Variable = readonly [name: string, value: Value];

function valuesOf(
  { brightness, colorTemperature, effect, color }: DeviceCommand,
  toMireds: ((kelvin: number) => number) | undefined,
): Variable[] {
  const values: Variable[] = [];
  if (typeof brightness === "number") values.push(["brightness", toLevel(brightness, SCALE)]);
  if (typeof colorTemperature === "number" && toMireds) {
    values.push(["color_temp", toMireds(colorTemperature)]);
  }
  if (typeof effect === "string") values.push(["effect", effect]);
  if (typeof color !== "object") return values;
  const [red, green, blue] = toRgb(color);
  values.push(["red", red], ["green", green], ["blue", blue]);
  return [...values, ["hue", color.hue], ["sat", color.saturation]];
}
