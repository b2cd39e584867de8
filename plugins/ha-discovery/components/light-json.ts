import {
  type Color,
  type DeviceCommand,
  type DeviceState,
  type StateValue,
  toLevel,
  toPercent,
} from "@mantel/plugin-sdk";
import { type Input, type CreateHandler, UNKNOWN } from "../component-handler.ts";
import type { Options } from "../options.ts";
import { jsonIn, type Payload } from "../payload.ts";
import { type Dict, isDict, numberOf, type Value } from "../template/values.ts";
import { COLOR, percentOf, present, SWITCH } from "./capabilities.ts";
import { color, fromRgb, fromXy, toRgb, toXy } from "./color.ts";
import { effectsOf, lightRounding, scaleOf, type White, whiteOf } from "./light-common.ts";
import { isOptimistic, needed } from "./simple.ts";

const COLOR_MODES = ["hs", "xy", "rgb", "rgbw", "rgbww"] as const;
type ColorMode = (typeof COLOR_MODES)[number];

/** The features of a lamp with the JSON schema. */
interface Lamp {
  readonly scale: number;
  readonly brightness: boolean;
  readonly white: White | undefined;
  /** The form in which it takes colours. */
  readonly color: ColorMode | undefined;
}

/** A lamp with one topic for all it tells and one for all it is asked, as JSON objects. */
export const jsonLight: CreateHandler = (options) => {
  const lamp = lampOf(options);
  const effects = options.flag("effect") ? effectsOf(options) : undefined;
  const write = needed(options.writer("command_topic", "command_template"));
  const capabilities = present([
    ["on", SWITCH],
    ["brightness", lamp.brightness ? percentOf(lamp.scale) : undefined],
    ["colorTemperature", lamp.white?.capability],
    ["color", lamp.color ? COLOR : undefined],
    ["effect", effects],
  ]);
  const names = Object.keys(capabilities);
  return {
    leads: "light",
    capabilities,
    inputs: inputOf(options, lamp),
    write: (command) => [write(JSON.stringify(asked(command, lamp)))],
    rounded: lightRounding(lamp.scale, lamp.white),
    unreported: new Set(isOptimistic(options) ? names : []),
  };
};

function lampOf(options: Options): Lamp {
  const modes = options.texts("supported_color_modes");
  const has = (mode: string) => modes?.includes(mode) ?? options.flag(mode);
  const form = COLOR_MODES.find(has);
  const white = has("color_temp") ? whiteOf(options) : undefined;
  const isDimmable = modes?.some((mode) => mode !== "onoff") ?? false;
  return {
    scale: scaleOf(options),
    brightness: options.flag("brightness") || isDimmable,
    white,
    color: form,
  };
}

function inputOf(options: Options, lamp: Lamp): Input[] {
  const topic = options.topic("state_topic");
  if (topic === undefined) return [];
  const read = options.reader("value_template");
  return [
    {
      topic,
      read: (payload) => {
        const text = read(payload);
        if (text === undefined || text === "") return undefined;
        const told = messageIn(text, payload);
        if (!told) {
          options.onGarbage("it is not a JSON object");
          return undefined;
        }
        return stateIn(told, lamp);
      },
    },
  ];
}

function messageIn(text: string, payload: Payload): Dict | undefined {
  const json = text === payload.text ? payload.variables.get("value_json") : jsonIn(text);
  return isDict(json) ? json : undefined;
}

const STATES = new Map<Value, StateValue>([
  ["ON", true],
  ["OFF", false],
  [null, null],
  [UNKNOWN, null],
]);

function stateIn(told: Dict, { scale, white }: Lamp): DeviceState {
  const number = (name: string) => {
    const value = told.get(name) ?? undefined;
    return value === undefined ? undefined : (numberOf(value) ?? NaN);
  };
  const [level, temperature, effect] = [
    number("brightness"),
    number("color_temp"),
    told.get("effect"),
  ];
  const on = STATES.get(told.get("state"));
  return {
    ...(on === undefined ? {} : { on }),
    ...(level === undefined ? {} : { brightness: toPercent(level, scale) }),
    ...(temperature === undefined || !white ? {} : { colorTemperature: white.toOurs(temperature) }),
    ...colorIn(told),
    ...(typeof effect === "string" ? { effect } : {}),
  };
}

/** A lamp in white mode shows no colour, even if it reports one. */
function colorIn(told: Dict): { color?: Color | null } {
  if (told.get("color_mode") === "color_temp") return { color: null };
  const of = told.get("color");
  if (of === null) return { color: null };
  const found = isDict(of) ? colorOf(of) : undefined;
  return found ? { color: found } : {};
}

/** A colour in any format. Of several, hue and saturation come first, then x and y. */
function colorOf(of: Dict): Color | undefined {
  const [hue, saturation, x, y] = ["h", "s", "x", "y"].map((name) => numberOf(of.get(name)));
  if (hue !== undefined && saturation !== undefined) return color(hue, saturation);
  if (x !== undefined && y !== undefined) return fromXy(x, y);
  const [red, green, blue] = ["r", "g", "b"].map((name) => numberOf(of.get(name)));
  if (red === undefined || green === undefined || blue === undefined) return undefined;
  return fromRgb([red, green, blue]);
}

/** The message for a command; all commands except "off" switch the lamp on. */
function asked(command: DeviceCommand, { scale, white, color: form }: Lamp): object {
  const { on, brightness, colorTemperature, effect } = command;
  const of = command["color"] as Color | undefined;
  return {
    state: on === false ? "OFF" : "ON",
    ...(typeof brightness === "number" ? { brightness: toLevel(brightness, scale) } : {}),
    ...(typeof colorTemperature === "number" && white
      ? { color_temp: white.toTheirs(colorTemperature) }
      : {}),
    ...(of && form ? { color: written(of, form) } : {}),
    effect,
  };
}

function written(of: Color, form: ColorMode): object {
  if (form === "hs") return { h: of.hue, s: of.saturation };
  if (form === "xy") {
    const [x, y] = toXy(of);
    return { x, y };
  }
  const [r, g, b] = toRgb(of);
  if (form === "rgb") return { r, g, b };
  return form === "rgbw" ? { r, g, b, w: 0 } : { r, g, b, c: 0, w: 0 };
}
