import type { DeviceState } from "@mantel/plugin-sdk";
import { type CreateHandler, type Input, inputs, textField } from "../component-handler.ts";
import type { Options } from "../options.ts";
import { jsonIn } from "../payload.ts";
import { isDict, numberOf } from "../template/values.ts";
import { choice, COMMAND, PERCENT_READING, present, reported } from "./capabilities.ts";
import { messagesOf } from "./simple.ts";

const CLEANING = ["cleaning", "docked", "idle", "paused", "returning", "error"];
const MOWING = ["mowing", "docked", "idle", "paused", "returning", "error"];

/** The commands of a vacuum: its field, Home Assistant's feature, and the payload with its default. */
const COMMANDS = [
  ["start", "start", "payload_start", "start"],
  ["pause", "pause", "payload_pause", "pause"],
  ["stop", "stop", "payload_stop", "stop"],
  ["dock", "return_home", "payload_return_to_base", "return_to_base"],
  ["locate", "locate", "payload_locate", "locate"],
  ["cleanSpot", "clean_spot", "payload_clean_spot", "clean_spot"],
] as const;

const DEFAULT_FEATURES = ["start", "stop", "return_home", "status", "clean_spot"];

/** A robot that cleans, with one topic for its state as JSON and one for all commands. */
export const vacuum: CreateHandler = (options) => {
  const features = new Set(options.texts("supported_features") ?? DEFAULT_FEATURES);
  const write = options.writer("command_topic", "command_template");
  const setSpeed = features.has("fan_speed")
    ? options.writer("set_fan_speed_topic", "set_fan_speed_template")
    : undefined;
  const there = write ? COMMANDS.filter(([, feature]) => features.has(feature)) : [];
  const hasState = options.topic("state_topic") !== undefined;
  const speeds = choice(options.texts("fan_speed_list"));
  return {
    leads: "vacuum",
    capabilities: present([
      ["action", hasState ? reported(CLEANING) : undefined],
      ...there.map(([name]) => [name, COMMAND] as const),
      ["battery", hasState && features.has("battery") ? PERCENT_READING : undefined],
      ["fanSpeed", setSpeed && speeds],
    ]),
    inputs: vacuumInputs(options),
    write: (command) => [
      ...messagesOf(command, { fanSpeed: (value: string) => setSpeed?.(value) }),
      ...messagesOf(
        command,
        Object.fromEntries(
          there.map(([name, , payload, absent]) => {
            return [name, () => write?.(options.text(payload, absent))] as const;
          }),
        ),
      ),
    ],
    unreported: new Set(hasState ? [] : ["fanSpeed"]),
  };
};

function vacuumInputs(options: Options): Input[] {
  return inputs(options, ["state_topic", "value_template"], (text) => {
    const told = jsonIn(text);
    if (!isDict(told)) {
      options.onGarbage("it is not a JSON object");
      return undefined;
    }
    const [action, battery, speed] = ["state", "battery_level", "fan_speed"].map((key) =>
      told.get(key),
    );
    const level = numberOf(battery);
    return {
      ...(typeof action === "string" ? { action } : {}),
      ...(level === undefined ? {} : { battery: level }),
      ...(typeof speed === "string" ? { fanSpeed: speed } : {}),
    } satisfies DeviceState;
  });
}

const MOWER_COMMANDS = [
  ["start", "start_mowing"],
  ["pause", "pause"],
  ["dock", "dock"],
] as const;

/** A robot that mows, with a topic for each command. */
export const lawnMower: CreateHandler = (options) => {
  const writers = MOWER_COMMANDS.flatMap(([name, theirs]) => {
    const write = options.writer(`${theirs}_command_topic`, `${theirs}_command_template`);
    return write ? [[name, () => write(theirs)] as const] : [];
  });
  const told = inputs(
    options,
    ["activity_state_topic", "activity_value_template"],
    textField("action"),
  );
  return {
    leads: "lawn-mower",
    capabilities: present([
      ["action", told.length > 0 ? reported(MOWING) : undefined],
      ...writers.map(([name]) => [name, COMMAND] as const),
    ]),
    inputs: told,
    write: (command) => messagesOf(command, Object.fromEntries(writers)),
  };
};
