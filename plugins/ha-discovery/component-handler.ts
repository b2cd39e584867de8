import type {
  Capabilities,
  DeviceCommand,
  DeviceKind,
  DeviceState,
  StateValue,
} from "@mantel/plugin-sdk";
import type { Options } from "./options.ts";
import type { Message, Payload } from "./payload.ts";
import type { PictureTopic } from "./pictures.ts";

/** Takes what comes on one topic. */
export interface Input {
  readonly topic: string;
  /** The fields that the payload tells of; `undefined` when it tells of none. */
  readonly read: (payload: Payload, state: DeviceState) => DeviceState | undefined;
  /** Seconds after which a reported value counts as unknown. */
  readonly expiresAfter?: number | undefined;
  /** A state that follows automatically without further messages, such as the end of motion. */
  readonly follows?: { readonly afterSeconds: number; readonly state: DeviceState } | undefined;
}

/** Takes what happens on one topic and is over. */
export interface EventInput {
  readonly topic: string;
  /** The name of what happened, or `undefined` when the payload is about something else. */
  readonly read: (payload: Payload) => string | undefined;
}

/** The fields that one component adds to its device. */
export interface ComponentHandler {
  /** The kind of device that it makes; absent for one that can only add to another. */
  readonly leads?: DeviceKind;
  readonly capabilities: Capabilities;
  readonly inputs: readonly Input[];
  /** The messages that a command takes, in their order. Only its own fields are given to it. */
  readonly write?: (command: DeviceCommand, state: DeviceState) => readonly Message[];
  /** The value that the device takes for a requested one, of fields where it may differ. */
  readonly rounded?: Readonly<Record<string, (value: number) => number>>;
  /**
   * The values that the device reports when it has carried out a command, where they are others than the requested
   * ones; `undefined` for one that it does not report.
   */
  readonly implied?: (command: DeviceCommand) => Readonly<Record<string, StateValue | undefined>>;
  /**
   * True if a report shows that the device is about to reach the value of a field. `isRequested` is false for a value
   * that is implied by a command without a state.
   */
  readonly isObeying?: (told: DeviceState, field: string, isRequested: boolean) => boolean;
  /** Messages that ask the device for its state. */
  readonly polls?: readonly Message[];
  /** Fields that are part of a command and have no state, such as a code. */
  readonly stateless?: ReadonlySet<string>;
  /** Fields that nothing reports: they become what they were asked to be. */
  readonly unreported?: ReadonlySet<string>;
  readonly events?: readonly EventInput[];
  /** The topic of its pictures, for a camera. */
  readonly picture?: PictureTopic;
  /** The message that activates a scene; a scene is not part of a device. */
  readonly scene?: () => Message;
}

/** Creates the handler from a component's options. @throws DiscoveryError if they cannot be used */
export type CreateHandler = (options: Options) => ComponentHandler;

/**
 * An input that reads a text from a topic; empty if the component has no such topic. `toState`
 * returns `undefined` for a meaningless text.
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

/** The text for "unknown" on a state topic in Home Assistant. */
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
    return { [name]: text === UNKNOWN ? null : text };
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
