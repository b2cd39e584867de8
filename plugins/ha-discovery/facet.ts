import type { Capabilities, DeviceCommand, DeviceKind, DeviceState } from "@mantel/plugin-sdk";
import type { Options } from "./options.ts";
import type { Message, Payload } from "./payload.ts";

/** Takes what comes on one topic. */
export interface Input {
  readonly topic: string;
  /** The fields that the payload tells of; `undefined` when it tells of none. */
  readonly read: (payload: Payload, state: DeviceState) => DeviceState | undefined;
  /** Seconds after which what was told counts as not known. */
  readonly expiresAfter?: number | undefined;
  /** What follows by itself when nothing more is heard, as motion ends. */
  readonly follows?: { readonly afterSeconds: number; readonly state: DeviceState } | undefined;
}

/** Takes what happens on one topic and is over. */
export interface EventInput {
  readonly topic: string;
  /** The name of what happened, or `undefined` when the payload is about something else. */
  readonly read: (payload: Payload) => string | undefined;
}

/** What one component brings to its device. */
export interface Facet {
  /** The kind of device that it makes; absent for one that can only add to another. */
  readonly leads?: DeviceKind;
  readonly capabilities: Capabilities;
  readonly inputs: readonly Input[];
  /** The messages that a command takes, in their order. Only its own fields are given to it. */
  readonly write?: (command: DeviceCommand, state: DeviceState) => readonly Message[];
  /** Fields that nothing reports: they become what they were asked to be. */
  readonly unreported?: ReadonlySet<string>;
  readonly events?: readonly EventInput[];
  /** What a scene is activated by; it is no part of a device. */
  readonly scene?: () => Message;
}

/** Makes a facet of a component's options. @throws Refusal when they cannot be used */
export type MakeFacet = (options: Options) => Facet;

/**
 * An input that reads one text from a topic; none when the component has no such topic. `toState` gives
 * `undefined` for a text that says nothing.
 */
export function inputs(
  options: Options,
  [topicName, templateName]: readonly [topic: string, template: string],
  toState: (text: string, payload: Payload) => DeviceState | undefined,
): Input[] {
  const topic = options.topic(topicName);
  if (topic === undefined) return [];
  const read = options.reader(templateName);
  return [
    {
      topic,
      read: (payload) => {
        const text = read(payload);
        return text === undefined ? undefined : toState(text, payload);
      },
    },
  ];
}

/** The number in a text, or `undefined`. */
export function numberIn(text: string): number | undefined {
  const trimmed = text.trim();
  const number = trimmed === "" ? NaN : Number(trimmed);
  return Number.isFinite(number) ? number : undefined;
}

/** What Home Assistant takes as "not known" on a state topic. */
export const UNKNOWN = "None";

/** The fields that one input tells of, when it is a number; NaN for a text that should be one. */
export function numberField(name: string, change: (value: number) => number = (value) => value) {
  return (text: string): DeviceState | undefined => {
    if (text === UNKNOWN) return { [name]: null };
    return text.trim() === "" ? undefined : { [name]: change(numberIn(text) ?? NaN) };
  };
}

/** The fields that one input tells of, when it is a text. */
export function textField(name: string) {
  return (text: string): DeviceState | undefined => {
    if (text === "") return undefined;
    return { [name]: text === UNKNOWN ? null : text.slice(0, 1_000) };
  };
}

/** The fields that one input tells of, when it is one of two texts. */
export function flagField(name: string, { on, off }: { on: string; off: string }) {
  return (text: string): DeviceState | undefined => {
    if (text === on) return { [name]: true };
    if (text === off) return { [name]: false };
    return text === UNKNOWN ? { [name]: null } : undefined;
  };
}
