import type { TSchema } from "typebox";
import { channelNameFault } from "./channel-names.ts";
import { MantelError } from "./errors.ts";
import type { ValueOf } from "./schema.ts";

/** Limits of all channels of one plugin. Sizes are bytes of JSON in UTF-8. */
export const CHANNEL_LIMITS = {
  channels: 32,
  /** Values of a channel without `maxBytes`. */
  usualBytes: 2 ** 16,
  mostBytes: 2 ** 20,
  schemaBytes: 2 ** 16,
  /** The deepest nesting of a value. */
  depth: 32,
  /** Values per second and channel that are passed on after a burst. A newer value replaces one that waits. */
  perSecond: 50,
} as const;

/** The scope that a token needs to read a channel. */
export const CHANNEL_SCOPES = ["read", "control", "edit", "admin"] as const;
export type ChannelScope = (typeof CHANNEL_SCOPES)[number];

/** One channel: a typed value that the plugin publishes to widgets, other plugins and clients. */
export interface ChannelDefinition<S extends TSchema = TSchema> {
  /** The host refuses a value that does not fit. */
  readonly schema: S;
  /** The user-facing name. */
  readonly title?: string;
  /** The largest value, as bytes of JSON; 64 KiB if absent, and at most 1 MiB. */
  readonly maxBytes?: number;
  /** The scope that a token needs to read it; `read` if absent. */
  readonly scope?: ChannelScope;
  /** True for a value that the host keeps while it is restarted. It is stored within two seconds. */
  readonly keep?: boolean;
}
export type ChannelDefinitions = Readonly<Record<string, ChannelDefinition>>;

/** The type of a channel's values. */
export type ChannelValue<D extends ChannelDefinition> = ValueOf<D["schema"]>;
/** The names of the channels in a definition. */
export type ChannelNames<C extends ChannelDefinitions> = keyof C & string;

/** Publishes the values of one channel. */
export interface ChannelPublisher<T> {
  /**
   * Replaces the channel's value. Resolves when the host serves this value or a newer one, so waiting is optional.
   * Above 50 values a second only the latest ones reach the host.
   * @throws MantelError `invalid` for a value that does not fit the schema or is too large; the last value stays, and
   * the module's log has the faults
   */
  publish(value: T): Promise<void>;
}

/** The publishers of a plugin's channels, by name. */
export type ChannelPublishers<C extends ChannelDefinitions> = {
  readonly [N in keyof C]: ChannelPublisher<ChannelValue<C[N]>>;
};

/** A channel of another plugin. */
export interface ChannelReader<T> {
  /** The last value; `undefined` before the first one, and while no plugin provides the channel. */
  readonly value: T | undefined;
  /**
   * Calls `listener` for each later value, and with `undefined` when the channel is gone. A slow listener gets only
   * the latest value. Returns a function that stops this; it stops by itself when the plugin stops.
   */
  on(listener: (value: T | undefined) => void): () => void;
  /** Yields the current value and each later one, until the plugin stops. */
  [Symbol.asyncIterator](): AsyncIterator<T>;
}

/**
 * Defines the channels of a plugin. Export them from a file of their own, which the server entry imports and the
 * widget uses for its types.
 * @throws MantelError `invalid` for a name or limit that the host would refuse
 */
export function defineChannels<const C extends ChannelDefinitions>(channels: C): C {
  const names = Object.keys(channels);
  if (names.length > CHANNEL_LIMITS.channels) {
    const sentence = `${names.length} channels are defined, the limit is ${CHANNEL_LIMITS.channels}`;
    throw new MantelError("invalid", `${sentence}; put values that change together into one`);
  }
  for (const name of names) {
    const fault = channelNameFault(name);
    if (fault !== undefined) throw new MantelError("invalid", `the channel "${name}" ${fault}`);
    requireLimits(name, channels[name]);
  }
  return channels;
}

function requireLimits(name: string, channel: ChannelDefinition | undefined): void {
  const { schema, maxBytes = 1 } = channel ?? {};
  if (typeof schema !== "object" || schema === null) {
    throw new MantelError("invalid", `the channel "${name}" has no schema`);
  }
  if (Number.isInteger(maxBytes) && maxBytes >= 1 && maxBytes <= CHANNEL_LIMITS.mostBytes) return;
  const limit = `a whole number from 1 to ${CHANNEL_LIMITS.mostBytes}`;
  throw new MantelError("invalid", `maxBytes of the channel "${name}" must be ${limit}`);
}
