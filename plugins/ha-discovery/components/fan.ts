import { type DeviceState, percentToSpeed, speedToPercent } from "@mantel/plugin-sdk";
import {
  flagField,
  type Input,
  inputs,
  type CreateHandler,
  numberField,
  textField,
  UNKNOWN,
} from "../component-handler.ts";
import { DiscoveryError } from "../discovery-error.ts";
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
    preset: options.writer(...PRESET.command),
    oscillating: options.writer(...OSCILLATION.command),
    direction: options.writer(...DIRECTION.command),
  };
  return {
    leads: "fan",
    capabilities: present([
      ["on", writers.on ? SWITCH : { ...SWITCH, readOnly: true }],
      ["speed", speed.write ? { ...PERCENT, step: speed.step } : undefined],
      ["preset", writers.preset ? choice(options.texts("preset_modes")) : undefined],
      ["oscillating", writers.oscillating ? SWITCH : undefined],
      ["direction", writers.direction ? choice(DIRECTIONS) : undefined],
    ]),
    inputs: inputsOf(options, turns, speed.read),
    write: (command) =>
      messagesOf(command, {
        on: (value: boolean) => writers.on?.(value ? turns.on.on : turns.on.off),
        speed: speed.write,
        preset: (value: string) => writers.preset?.(value),
        oscillating: (value: boolean) =>
          writers.oscillating?.(value ? turns.oscillating.on : turns.oscillating.off),
        direction: (value: string) => writers.direction?.(value),
      }),
    rounded: { speed: speed.round },
    unreported: unreportedOf(options, {
      on: "state_topic",
      speed: SPEED.state[0],
      preset: PRESET.state[0],
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
  readSpeed: (text: string) => DeviceState | undefined,
): Input[] {
  return [
    ...inputs(options, ["state_topic", "state_value_template"], flagField("on", turns.on)),
    ...inputs(options, SPEED.state, readSpeed),
    ...inputs(options, PRESET.state, textField("preset")),
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
  if (!Number.isInteger(min) || !Number.isInteger(max) || min < 1) {
    throw new DiscoveryError("speed_range_min and speed_range_max must be whole numbers above 0");
  }
  if (min > max) throw new DiscoveryError("speed_range_min is above speed_range_max");
  const levels = max - min + 1;
  const write = options.writer(...SPEED.command);
  const reset = options.text("payload_reset_percentage", UNKNOWN);
  const read = numberField("speed", (raw) => speedToPercent(raw - min + 1, levels));
  return {
    read: (text: string) => (text === reset ? { speed: null } : read(text)),
    step: 100 / levels,
    round: (percent: number) => speedToPercent(percentToSpeed(percent, levels), levels),
    write: write && ((percent: number) => write(percentToSpeed(percent, levels) + min - 1)),
  };
}
