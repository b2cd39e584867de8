import type { DeviceCommand, DeviceState } from "@mantel/plugin-sdk";
import { type CreateHandler, type Input, inputs, UNKNOWN } from "../component-handler.ts";
import type { Options, Write } from "../options.ts";
import { jsonIn, type Message } from "../payload.ts";
import { isDict, numberOf, type Value } from "../template/values.ts";
import { choice, PERCENT, present, SWITCH } from "./capabilities.ts";
import { isOptimistic, needed } from "./simple.ts";

/** True if a feature is supported, which is the default of its flag. */
const supports = (options: Options, name: string) => !options.has(name) || options.flag(name);

/** A siren. Without a template it takes a JSON object, as in Home Assistant. */
export const siren: CreateHandler = (options) => {
  const capabilities = present([
    ["on", SWITCH],
    ["tone", choice(options.texts("available_tones"))],
    ["volume", supports(options, "support_volume_set") ? PERCENT : undefined],
    [
      "duration",
      supports(options, "support_duration") ? { type: "number", min: 0, unit: "s" } : undefined,
    ],
  ]);
  const turn = turning(options);
  return {
    leads: "siren",
    capabilities,
    inputs: inputsOf(options),
    // each message also turns it on or off, so that a silent siren cannot be given a volume alone
    write: (command, { on }) => (command["on"] === undefined && on !== true ? [] : [turn(command)]),
    unreported: new Set(isOptimistic(options) ? Object.keys(capabilities) : []),
  };
};

function turning(options: Options): (command: DeviceCommand) => Message {
  const on = needed(options.writer("command_topic", "command_template"));
  const off = options.has("command_off_template")
    ? needed(options.writer("command_topic", "command_off_template"))
    : on;
  const hasTemplate = options.has("command_template");
  const payloads = {
    on: options.text("payload_on", "ON"),
    off: options.text("payload_off", "OFF"),
  };
  return (command) => {
    const isOff = command["on"] === false;
    const state = isOff ? payloads.off : payloads.on;
    const variables = isOff ? [] : featuresIn(command);
    if (hasTemplate || (isOff && off !== on)) {
      return templated(isOff ? off : on, state, variables);
    }
    return on(JSON.stringify(Object.fromEntries([["state", state], ...variables])));
  };
}

const templated = (write: Write, state: string, variables: readonly (readonly [string, Value])[]) =>
  write(state, [["state", state], ...variables]);

function featuresIn({ tone, volume, duration }: DeviceCommand): (readonly [string, Value])[] {
  const entries: (readonly [string, Value])[] = [];
  if (typeof tone === "string") entries.push(["tone", tone]);
  if (typeof volume === "number") entries.push(["volume_level", volume / 100]);
  if (typeof duration === "number") entries.push(["duration", duration]);
  return entries;
}

function inputsOf(options: Options): Input[] {
  const on = options.text("state_on", options.text("payload_on", "ON"));
  const off = options.text("state_off", options.text("payload_off", "OFF"));
  const states = new Map<Value, boolean | null>([
    [on, true],
    [off, false],
    [UNKNOWN, null],
  ]);
  return inputs(options, ["state_topic", "state_value_template"], (text) => {
    const json = jsonIn(text);
    const told = isDict(json) ? json : new Map<Value, Value>([["state", text]]);
    const state = states.get(told.get("state"));
    const [volume, duration] = ["volume_level", "duration"].map((key) => numberOf(told.get(key)));
    const tone = told.get("tone");
    return {
      ...(state === undefined ? {} : { on: state }),
      ...(typeof tone === "string" ? { tone } : {}),
      ...(volume === undefined ? {} : { volume: Number((volume * 100).toFixed(1)) }),
      ...(duration === undefined ? {} : { duration }),
    } satisfies DeviceState;
  });
}
