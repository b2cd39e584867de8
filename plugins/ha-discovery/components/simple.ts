import type { DeviceCommand, DeviceState } from "@mantel/plugin-sdk";
import {
  flagField,
  inputs,
  type CreateHandler,
  numberField,
  textField,
  UNKNOWN,
} from "../component-handler.ts";
import { DiscoveryError } from "../discovery-error.ts";
import type { Options, Write } from "../options.ts";
import { type Message } from "../payload.ts";
import {
  choice,
  COMMAND,
  numberOf,
  present,
  SHOWN,
  SWITCH,
  TEXT,
  unitOf,
  YES_NO,
} from "./capabilities.ts";

const VALUE = ["state_topic", "value_template"] as const;

/** True when what was asked counts as done at once, because nothing will tell. */
export const isOptimistic = (options: Options, topic = "state_topic") =>
  options.flag("optimistic") || options.topic(topic) === undefined;

/** The fields that are in a command, each with what writes it, as messages. */
export function messagesOf(
  command: DeviceCommand,
  writers: Readonly<Record<string, ((value: never) => Message | undefined) | undefined>>,
): Message[] {
  return Object.entries(writers).flatMap(([name, write]) => {
    const value = command[name];
    const message = value === undefined ? undefined : write?.(value as never);
    return message ? [message] : [];
  });
}

/** The `value` field of a component that has one. */
const valueOnly =
  (write: (value: never) => Message | undefined) =>
  (command: DeviceCommand): Message[] =>
    messagesOf(command, { value: write });

const unreported = (options: Options, ...names: readonly string[]) =>
  new Set(isOptimistic(options) ? names : []);

export function needed(write: Write | undefined): Write {
  if (write) return write;
  throw new DiscoveryError("command_topic is missing, or refused by refusedTopics");
}

export const switchHandler: CreateHandler = (options) => {
  const [on, off] = [options.text("payload_on", "ON"), options.text("payload_off", "OFF")];
  const states = { on: options.text("state_on", on), off: options.text("state_off", off) };
  const write = options.writer("command_topic", "command_template");
  const isAside = ["config", "diagnostic"].includes(options.text("entity_category", ""));
  const kind = options.text("device_class", "") === "outlet" ? "plug" : "switch";
  return {
    ...(isAside || !write ? {} : { leads: kind }),
    capabilities: { on: write ? SWITCH : { ...SWITCH, readOnly: true } },
    inputs: inputs(options, VALUE, flagField("on", states)),
    write: (command) => messagesOf(command, { on: (value: boolean) => write?.(value ? on : off) }),
    unreported: unreported(options, "on"),
  };
};

export const button: CreateHandler = (options) => {
  const press = options.text("payload_press", "PRESS");
  const write = needed(options.writer("command_topic", "command_template"));
  return {
    capabilities: { value: COMMAND },
    inputs: [],
    write: valueOnly(() => write(press)),
  };
};

export const number: CreateHandler = (options) => {
  const unit = unitOf(options);
  const [min, max] = [options.number("min", 1), options.number("max", 100)];
  const write = options.writer("command_topic", "command_template");
  const reset = options.text("payload_reset", UNKNOWN);
  const told = numberField("value", unit.toOurs);
  const bounds = { min: unit.toOurs(min), max: unit.toOurs(max), step: options.number("step", 1) };
  return {
    capabilities: { value: { ...numberOf(unit, bounds), ...(write ? {} : { readOnly: true }) } },
    inputs: inputs(options, VALUE, (text) => (text === reset ? { value: null } : told(text))),
    write: valueOnly((value: number) => write?.(unit.toTheirs(value))),
    unreported: unreported(options, "value"),
  };
};

export const select: CreateHandler = (options) => {
  const capability = choice(options.texts("options"));
  if (!capability) throw new DiscoveryError("options must be a list with an entry");
  const write = options.writer("command_topic", "command_template");
  return {
    capabilities: { value: write ? capability : { ...capability, readOnly: true } },
    inputs: inputs(options, VALUE, textField("value")),
    write: valueOnly((value: string) => write?.(value)),
    unreported: unreported(options, "value"),
  };
};

export const text: CreateHandler = (options) => {
  const write = options.writer("command_topic", "command_template");
  return {
    capabilities: { value: write ? TEXT : SHOWN },
    inputs: inputs(options, VALUE, (value) => ({ value })),
    write: valueOnly((value: string) => write?.(value)),
    unreported: unreported(options, "value"),
  };
};

export const scene: CreateHandler = (options) => {
  const on = options.text("payload_on", "ON");
  const write = needed(options.writer("command_topic", "command_template"));
  return { capabilities: {}, inputs: [], scene: () => write(on) };
};

const LOCK = [
  ["payload_lock", "LOCK"],
  ["payload_unlock", "UNLOCK"],
] as const;

/** The code that a command may carry; it is never stored. */
export const CODE = "code";
export const codeOf = (command: DeviceCommand): string => {
  const code = command[CODE];
  return typeof code === "string" ? code : "";
};

export const lock: CreateHandler = (options) => {
  const [locks, unlocks] = LOCK.map(([name, absent]) => options.text(name, absent));
  const write = options.writer("command_topic", "command_template");
  const opens = options.text("payload_open", undefined);
  const states = {
    on: options.text("state_locked", "LOCKED"),
    off: options.text("state_unlocked", "UNLOCKED"),
  };
  const jammed = options.text("state_jammed", "JAMMED");
  const isLocked = flagField("locked", states);
  const told = inputs(options, VALUE, (payload) =>
    payload === jammed ? { locked: null, jammed: true } : withJammed(isLocked(payload)),
  );
  return {
    leads: "lock",
    capabilities: present([
      ["locked", write ? SWITCH : { ...SWITCH, readOnly: true }],
      ["jammed", told.length > 0 ? YES_NO : undefined],
      ["unlatch", write && opens !== undefined ? COMMAND : undefined],
      [CODE, write && options.has("code_format") ? TEXT : undefined],
    ]),
    inputs: told,
    write: (command) => {
      const variables = [["code", codeOf(command)]] as const;
      return messagesOf(command, {
        locked: (value: boolean) => write?.((value ? locks : unlocks) ?? "", variables),
        unlatch: () => write?.(opens ?? "", variables),
      });
    },
    stateless: new Set([CODE]),
    unreported: unreported(options, "locked"),
  };
};

/** A lock that reports where its bolt is is not jammed. */
const withJammed = (told: DeviceState | undefined): DeviceState | undefined =>
  told && typeof told["locked"] === "boolean" ? { ...told, jammed: false } : told;
