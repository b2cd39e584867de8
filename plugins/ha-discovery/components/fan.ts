import {
  flagField,
  type Input,
  inputs,
  type CreateHandler,
  numberField,
  textField,
} from "../component-handler.ts";
import type { Options } from "../options.ts";
import { choice, PERCENT, present, SWITCH } from "./capabilities.ts";
import { isOptimistic, messagesOf } from "./simple.ts";

/** The topics and templates of one feature of a fan. */
const of = (name: string) =>
  ({
    state: [`${name}_state_topic`, `${name}_value_template`],
    command: [`${name}_command_topic`, `${name}_command_template`],
  }) as const;

const [SPEED, PRESET, OSCILLATION, DIRECTION] = [
  of("percentage"),
  of("preset_mode"),
  of("oscillation"),
  of("direction"),
];

const DIRECTIONS = ["forward", "reverse"];

export const fan: CreateHandler = (options) => {
  const turns = turnsOf(options);
  const speed = speedOf(options);
  const writers = {
    on: options.writer("command_topic", "command_template"),
    mode: options.writer(...PRESET.command),
    oscillating: options.writer(...OSCILLATION.command),
    direction: options.writer(...DIRECTION.command),
  };
  return {
    leads: "fan",
    capabilities: present([
      ["on", writers.on ? SWITCH : { ...SWITCH, readOnly: true }],
      ["speed", speed.write ? PERCENT : undefined],
      ["mode", writers.mode ? choice(options.texts("preset_modes")) : undefined],
      ["oscillating", writers.oscillating ? SWITCH : undefined],
      ["direction", writers.direction ? choice(DIRECTIONS) : undefined],
    ]),
    inputs: inputsOf(options, turns, speed.toPercent),
    write: (command) =>
      messagesOf(command, {
        on: (value: boolean) => writers.on?.(value ? turns.on.on : turns.on.off),
        speed: speed.write,
        mode: (value: string) => writers.mode?.(value),
        oscillating: (value: boolean) =>
          writers.oscillating?.(value ? turns.oscillating.on : turns.oscillating.off),
        direction: (value: string) => writers.direction?.(value),
      }),
    unreported: unreportedOf(options, {
      on: "state_topic",
      speed: SPEED.state[0],
      mode: PRESET.state[0],
      oscillating: OSCILLATION.state[0],
      direction: DIRECTION.state[0],
    }),
  };
};

/** The payloads of what is on or off. */
function turnsOf(options: Options) {
  return {
    on: { on: options.text("payload_on", "ON"), off: options.text("payload_off", "OFF") },
    oscillating: {
      on: options.text("payload_oscillation_on", "oscillate_on"),
      off: options.text("payload_oscillation_off", "oscillate_off"),
    },
  };
}

function inputsOf(
  options: Options,
  turns: ReturnType<typeof turnsOf>,
  toPercent: (raw: number) => number,
): Input[] {
  return [
    ...inputs(options, ["state_topic", "state_value_template"], flagField("on", turns.on)),
    ...inputs(options, SPEED.state, numberField("speed", toPercent)),
    ...inputs(options, PRESET.state, textField("mode")),
    ...inputs(options, OSCILLATION.state, flagField("oscillating", turns.oscillating)),
    ...inputs(options, DIRECTION.state, textField("direction")),
  ];
}

/** The fields whose state topic is not there, by the names of those topics. */
export function unreportedOf(
  options: Options,
  topics: Readonly<Record<string, string>>,
): ReadonlySet<string> {
  return new Set(
    Object.entries(topics).flatMap(([name, topic]) => (isOptimistic(options, topic) ? [name] : [])),
  );
}

/** Speeds go from `speed_range_min` to `speed_range_max`; 0 is off and below the range. */
function speedOf(options: Options) {
  const [min, max] = [options.number("speed_range_min", 1), options.number("speed_range_max", 100)];
  const steps = Math.max(1, max - min + 1);
  const write = options.writer(...SPEED.command);
  return {
    toPercent: (raw: number) => Math.round(Math.min(1, Math.max(0, (raw - min + 1) / steps)) * 100),
    write: write && ((percent: number) => write(Math.ceil((percent / 100) * steps) + min - 1)),
  };
}
