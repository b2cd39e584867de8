import {
  type Color,
  type DeviceCommand,
  type DeviceState,
  toLevel,
  toPercent,
} from "@mantel/plugin-sdk";
import {
  type Input,
  inputs,
  type CreateHandler,
  flagField,
  numberField,
  numberIn,
  textField,
  UNKNOWN,
} from "../component-handler.ts";
import type { Options, Write } from "../options.ts";
import { type Message } from "../payload.ts";
import { COLOR, percentOf, present, SWITCH } from "./capabilities.ts";
import { color, fromRgb, fromXy, toRgb, toXy } from "./color.ts";
import { effectsOf, lightRounding, scaleOf, whiteOf } from "./light-common.ts";
import { isOptimistic, messagesOf, needed } from "./simple.ts";

/** The topics and templates of one feature, whose names are all made alike. */
const of = (name: string) =>
  ({
    state: [`${name}_state_topic`, `${name}_value_template`],
    command: [`${name}_command_topic`, `${name}_command_template`],
  }) as const;

/** The format of a colour in states and commands. */
interface ColorForm {
  readonly name: string;
  readonly read: (numbers: readonly number[]) => Color | undefined;
  readonly write: (value: Color) => readonly number[];
  /** The names of its parts in templates. */
  readonly parts: readonly string[];
}

const FORMS: readonly ColorForm[] = [
  {
    name: "hs",
    read: ([hue = NaN, saturation = NaN]) => color(hue, saturation),
    write: ({ hue, saturation }) => [hue, saturation],
    parts: ["hue", "sat"],
  },
  { name: "xy", read: ([x = NaN, y = NaN]) => fromXy(x, y), write: toXy, parts: ["x", "y"] },
  ...["rgb", "rgbw", "rgbww"].map((name) => ({
    name,
    read: ([red = NaN, green = NaN, blue = NaN]: readonly number[]) => fromRgb([red, green, blue]),
    write: (value: Color) => [
      ...toRgb(value),
      ...(name === "rgb" ? [] : Array(name.length - 3).fill(0)),
    ],
    parts: [
      "red",
      "green",
      "blue",
      ...(name === "rgbw" ? ["white"] : ["cold_white", "warm_white"]),
    ],
  })),
];

/** A lamp with a topic for each thing it does. */
export const defaultLight: CreateHandler = (options) => {
  const form = FORMS.find(({ name }) => options.topic(of(name).command[0]) !== undefined);
  const features = featuresOf(options, form);
  const names = Object.keys(features.capabilities);
  const states: Readonly<Record<string, string>> = {
    on: "state_topic",
    brightness: of("brightness").state[0],
    colorTemperature: of("color_temp").state[0],
    effect: of("effect").state[0],
    color: form ? of(form.name).state[0] : "",
  };
  return {
    leads: "light",
    ...features,
    unreported: new Set(names.filter((name) => isOptimistic(options, states[name]))),
  };
};

function featuresOf(options: Options, form: ColorForm | undefined) {
  const scale = scaleOf(options);
  const white = whiteOf(options);
  const writers = {
    brightness: options.writer(...of("brightness").command),
    colorTemperature: options.writer(...of("color_temp").command),
    effect: options.writer(...of("effect").command),
    color: form && options.writer(...of(form.name).command),
  };
  const { on, write } = turning(options);
  const styles = (command: DeviceCommand) =>
    messagesOf(command, {
      color: (value: Color) => form && colored(writers.color, form, value),
      colorTemperature: (value: number) => writers.colorTemperature?.(white.toTheirs(value)),
      brightness: (value: number) => writers.brightness?.(toLevel(value, scale)),
      effect: (value: string) => writers.effect?.(value),
    });
  return {
    capabilities: present([
      ["on", SWITCH],
      ["brightness", writers.brightness && percentOf(scale)],
      ["colorTemperature", writers.colorTemperature && white.capability],
      ["color", writers.color && COLOR],
      ["effect", writers.effect && effectsOf(options)],
    ]),
    inputs: [
      ...inputs(options, ["state_topic", valueTemplate(options)], flagField("on", on)),
      ...inputs(
        options,
        of("brightness").state,
        numberField("brightness", (raw) => toPercent(raw, scale)),
      ),
      ...inputs(options, of("color_temp").state, numberField("colorTemperature", white.toOurs)),
      ...inputs(options, of("effect").state, textField("effect")),
      ...(form ? colorInputs(options, form) : []),
      ...modeInputs(options, form),
    ],
    write: (command: DeviceCommand) => write(command, styles(command)),
    rounded: lightRounding(scale, white),
  };
}

const valueTemplate = (options: Options) =>
  options.has("state_value_template") ? "state_value_template" : "value_template";

/**
 * The order of the on command: before or after brightness and colour, or through the brightness.
 */
function turning(options: Options) {
  const on = { on: options.text("payload_on", "ON"), off: options.text("payload_off", "OFF") };
  const turn = needed(options.writer("command_topic", "command_template"));
  const order = options.text("on_command_type", "last");
  const write = (command: DeviceCommand, styles: readonly Message[]): readonly Message[] => {
    if (command["on"] === false) return [turn(on.off)];
    if (command["on"] === undefined) return styles;
    if (order === "brightness" && styles.length > 0) return styles;
    return order === "first" ? [turn(on.on), ...styles] : [...styles, turn(on.on)];
  };
  return { on, write };
}

function colored(write: Write | undefined, form: ColorForm, value: Color): Message | undefined {
  const numbers = form.write(value);
  const parts = form.parts.map((name, index) => [name, numbers[index] ?? 0] as const);
  return write?.(numbers.join(","), parts);
}

function colorInputs(options: Options, form: ColorForm): Input[] {
  return inputs(options, of(form.name).state, (text): DeviceState | undefined => {
    if (text === UNKNOWN) return { color: null };
    const numbers = text.split(",", 5).map((each) => numberIn(each) ?? NaN);
    const found = form.read(numbers);
    return found && { color: found };
  });
}

/** A lamp that tells that it shines white shows no colour. */
function modeInputs(options: Options, form: ColorForm | undefined): Input[] {
  if (!form) return [];
  return inputs(options, of("color_mode").state, (text) =>
    text === "color_temp" || text === "white" ? { color: null } : undefined,
  );
}
