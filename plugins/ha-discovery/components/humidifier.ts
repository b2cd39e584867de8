import {
  type CreateHandler,
  flagField,
  type Input,
  inputs,
  numberField,
  textField,
  UNKNOWN,
} from "../component-handler.ts";
import type { Options } from "../options.ts";
import { choice, PERCENT_READING, present, reported, SWITCH } from "./capabilities.ts";
import { unreportedOf } from "./fan.ts";
import { messagesOf, needed } from "./simple.ts";

const ACTIONS = ["off", "idle", "humidifying", "drying"];

/** Moistens or dries air, by its device class. */
export const humidifier: CreateHandler = (options) => {
  const turns = { on: options.text("payload_on", "ON"), off: options.text("payload_off", "OFF") };
  const write = needed(options.writer("command_topic", "command_template"));
  const setTarget = options.writer(
    "target_humidity_command_topic",
    "target_humidity_command_template",
  );
  const setMode = options.writer("mode_command_topic", "mode_command_template");
  const has = (name: string) => options.topic(name) !== undefined;
  const range = {
    min: options.number("min_humidity", 0),
    max: options.number("max_humidity", 100),
  };
  const isDrying = options.text("device_class", "humidifier") === "dehumidifier";
  return {
    leads: isDrying ? "dehumidifier" : "humidifier",
    capabilities: present([
      ["on", SWITCH],
      ["targetHumidity", setTarget && { type: "number", unit: "%", step: 1, ...range }],
      ["mode", setMode && choice(options.texts("modes"))],
      ["humidity", has("current_humidity_topic") ? PERCENT_READING : undefined],
      ["action", has("action_topic") ? reported(ACTIONS) : undefined],
    ]),
    inputs: inputsOf(options, turns),
    write: (command) =>
      messagesOf(command, {
        on: (value: boolean) => write(value ? turns.on : turns.off),
        targetHumidity: (value: number) => setTarget?.(value),
        mode: (value: string) => setMode?.(value),
      }),
    unreported: unreportedOf(options, {
      on: "state_topic",
      mode: "mode_state_topic",
      targetHumidity: "target_humidity_state_topic",
    }),
  };
};

function inputsOf(options: Options, turns: { on: string; off: string }): Input[] {
  const resettable = (
    name: "targetHumidity" | "mode",
    payload: string,
    read: ReturnType<typeof textField>,
  ) => {
    const reset = options.text(payload, UNKNOWN);
    return (text: string) => (text === reset ? { [name]: null } : read(text));
  };
  return [
    ...inputs(options, ["state_topic", "state_value_template"], flagField("on", turns)),
    ...inputs(
      options,
      ["target_humidity_state_topic", "target_humidity_state_template"],
      resettable("targetHumidity", "payload_reset_humidity", numberField("targetHumidity")),
    ),
    ...inputs(
      options,
      ["mode_state_topic", "mode_state_template"],
      resettable("mode", "payload_reset_mode", textField("mode")),
    ),
    ...inputs(
      options,
      ["current_humidity_topic", "current_humidity_template"],
      numberField("humidity"),
    ),
    ...inputs(options, ["action_topic", "action_template"], textField("action")),
  ];
}
