import { CHANNEL_LIMITS } from "@mantel/plugin-sdk/channel";
import { MantelError } from "@mantel/plugin-sdk/errors";
import { LatestWins, type Rate, RateBudget } from "@mantel/plugin-sdk/latest-wins";
import type { DeclaredChannel } from "@mantel/plugin-sdk/protocol";
import type { Bus } from "../events/bus.ts";
import { JsonShape } from "../json-shape.ts";
import type { ApiPaths } from "../routes/api-paths.ts";
import { faultsOf, invalid } from "../validate.ts";
import { ChannelDemand } from "./demand.ts";

/** More than the SDK sends, so that its pace applies. */
const CHANNEL_RATE: Rate = {
  burst: 2 * CHANNEL_LIMITS.perSecond,
  perSecond: 1.2 * CHANNEL_LIMITS.perSecond,
};
/** Bytes of all channels of one plugin. Checking a value takes about 30 ms a MiB. */
const PLUGIN_RATE: Rate = { burst: 4 * 2 ** 20, perSecond: 2 ** 20 };
/** Each value costs as much as this many bytes, besides its own. */
const BYTES_OF_A_VALUE = 512;
/** Events under the topics of paths. */
const EVENT_RATE: Rate = { burst: 10, perSecond: 1 };
const LONGEST_EVENT = 16_384;
/** The most values without keys, such as items of arrays, in one value of a channel. */
const MOST_ITEMS = 50_000;

/** The last value of a channel. */
export interface ChannelValue {
  /** The value as JSON text, as its plugin sent it. */
  readonly json: string;
  readonly value: unknown;
  /** Grows with each value, also over a restart of the host. */
  readonly revision: number;
  /** ISO 8601 in UTC. */
  readonly updatedAt: string;
}

/** A channel as the host serves it. */
export interface ChannelState {
  readonly plugin: string;
  readonly declared: DeclaredChannel;
  /** Absent before the first value. */
  readonly current: ChannelValue | undefined;
}

interface Channel {
  readonly plugin: string;
  declared: DeclaredChannel;
  current: ChannelValue | undefined;
  /** True if the code that may publish declares it. */
  isDeclared: boolean;
  readonly latest: LatestWins<Sent>;
  /** Events under the topics of its paths. They are stored for clients that come back, so they are fewer. */
  readonly events: LatestWins<ChannelValue>;
}

interface Sent {
  readonly json: string;
  readonly bytes: number;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** Called for each new value, and with a channel without a value when it is gone. */
export type ChannelListener = (channel: ChannelState) => void;

/** The channels of all plugins: their declarations and last values. */
export class ChannelRegistry {
  readonly demand = new ChannelDemand();
  readonly #bus: Bus;
  readonly #paths: ApiPaths;
  /** By plugin and name. */
  readonly #plugins = new Map<string, Map<string, Channel>>();
  readonly #budgets = new Map<string, RateBudget>();
  readonly #listeners = new Set<ChannelListener>();
  #changes = 0;
  #taken = 0;

  constructor({ bus, paths }: { readonly bus: Bus; readonly paths: ApiPaths }) {
    this.#bus = bus;
    this.#paths = paths;
  }

  /** Grows when a channel is declared, changed or removed, and not with values. */
  get changes(): number {
    return this.#changes;
  }

  /** The number of values that were taken since the host started; values that a newer one replaced do not count. */
  get taken(): number {
    return this.#taken;
  }

  /**
   * Lets the code with these channels publish from now on, in place of the code before. Values of the code before
   * stay until `settle`.
   */
  admit(plugin: string, declared: readonly DeclaredChannel[]): void {
    const channels = this.#plugins.get(plugin) ?? new Map<string, Channel>();
    for (const channel of channels.values()) channel.isDeclared = false;
    for (const each of declared) {
      const known = channels.get(each.name);
      if (known) Object.assign(known, { declared: each, isDeclared: true });
      else channels.set(each.name, this.#created(plugin, each));
    }
    if (channels.size > 0) this.#plugins.set(plugin, channels);
    this.#changes++;
  }

  /** Removes the channels that the admitted code does not declare, and values that do not fit its schemas. */
  settle(plugin: string): void {
    for (const channel of this.#plugins.get(plugin)?.values() ?? []) {
      const { declared, current, isDeclared } = channel;
      if (!isDeclared) this.#remove(channel);
      else if (current && !fits(declared, current)) {
        channel.current = undefined;
        this.#announce(channel);
      }
    }
    this.#changes++;
  }

  /** Removes all channels of a plugin, because its module has ended. */
  remove(plugin: string): void {
    for (const channel of this.#plugins.get(plugin)?.values() ?? []) this.#remove(channel);
    this.#plugins.delete(plugin);
    this.#budgets.delete(plugin);
    this.#changes++;
  }

  /** Puts back a value from before the host was restarted. It is removed unless its plugin declares it again. */
  restore(plugin: string, declared: DeclaredChannel, value: ChannelValue): void {
    const channels = this.#plugins.get(plugin) ?? new Map<string, Channel>();
    const channel = this.#created(plugin, declared);
    channel.current = value;
    this.#plugins.set(plugin, channels.set(declared.name, channel));
    this.#changes++;
  }

  /** True if somebody follows a channel that this plugin has. */
  isFollowed(plugin: string): boolean {
    return this.#plugins.has(plugin) && this.demand.isFollowed(plugin);
  }

  /** The ids of the plugins that have channels. */
  plugins(): readonly string[] {
    return [...this.#plugins.keys()];
  }

  /**
   * Checks and serves a value. Resolves when this value, or a newer one, is served.
   * @throws MantelError `invalid`; the last value stays
   */
  async publish(plugin: string, name: string, json: string): Promise<void> {
    const channel = this.#plugins.get(plugin)?.get(name);
    if (!channel?.isDeclared) {
      const todo = "add it to defineChannels, and pass that as channels to definePlugin";
      throw new MantelError("invalid", `${plugin} declares no channel ${name}; ${todo}`);
    }
    const bytes = Buffer.byteLength(json);
    const { maxBytes } = channel.declared;
    if (bytes > maxBytes) {
      const sizes = `has ${bytes} bytes of JSON, the limit is ${maxBytes}`;
      throw new MantelError("invalid", `the value of ${plugin}/${name} ${sizes}`);
    }
    await new Promise<void>((resolve, reject) =>
      channel.latest.put({ json, bytes, resolve, reject }),
    );
  }

  /** All channels, in the order of their names. */
  list(): ChannelState[] {
    return this.#all().toSorted((a, b) => keyOf(a).localeCompare(keyOf(b)));
  }

  #all(): Channel[] {
    return [...this.#plugins.values()].flatMap((channels) => [...channels.values()]);
  }

  find(plugin: string, name: string): ChannelState | undefined {
    return this.#plugins.get(plugin)?.get(name);
  }

  /** Calls `listener` for each change from now on; returns a function that stops that. */
  on(listener: ChannelListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  close(): void {
    for (const { latest, events } of this.#all()) {
      latest.flush();
      events.stop();
    }
  }

  #created(plugin: string, declared: DeclaredChannel): Channel {
    const rate = new RateBudget(CHANNEL_RATE);
    const events = new RateBudget(EVENT_RATE);
    const bytes = this.#budgets.get(plugin) ?? new RateBudget(PLUGIN_RATE);
    this.#budgets.set(plugin, bytes);
    const cost = (sent: Sent): number => sent.bytes + BYTES_OF_A_VALUE;
    const channel: Channel = {
      plugin,
      declared,
      current: undefined,
      isDeclared: true,
      latest: new LatestWins<Sent>({
        waitMs: (sent) => Math.max(rate.waitMs(1), bytes.waitMs(cost(sent))),
        pass: (sent) => {
          rate.take(1);
          bytes.take(cost(sent));
          this.#take(channel, sent);
        },
        replaced: ({ resolve }) => resolve(),
      }),
      events: new LatestWins<ChannelValue>({
        waitMs: () => events.waitMs(1),
        pass: (value) => {
          events.take(1);
          this.#emitContributed(channel, value);
        },
        replaced: () => undefined,
      }),
    };
    return channel;
  }

  #take(channel: Channel, { json, resolve, reject }: Sent): void {
    try {
      const value = parseValue(channel, json);
      const at = Date.now();
      const revision = Math.max(at, (channel.current?.revision ?? 0) + 1);
      channel.current = {
        json: oneLine(json, value),
        value,
        revision,
        updatedAt: new Date(at).toISOString(),
      };
      this.#taken++;
      this.#announce(channel);
      channel.events.put(channel.current);
      resolve();
    } catch (error) {
      reject(error);
    }
  }

  #remove(channel: Channel): void {
    channel.latest.stop();
    channel.events.stop();
    channel.current = undefined;
    this.#plugins.get(channel.plugin)?.delete(channel.declared.name);
    this.#announce(channel);
  }

  #emitContributed({ plugin, declared }: Channel, { value }: ChannelValue): void {
    for (const { served } of this.#paths.of(plugin, declared.name)) {
      if (!served.event) continue;
      const { topic, fields } = served.event;
      const text = JSON.stringify(picked(value, fields));
      if (text.length <= LONGEST_EVENT) {
        this.#bus.emit("contributed", { topic, scope: declared.scope, text });
      }
    }
  }

  #announce(channel: ChannelState): void {
    for (const listener of this.#listeners) listener(channel);
    const { plugin, declared, current } = channel;
    const { name, scope } = declared;
    const text = current ? channelText(channel) : JSON.stringify({ plugin, name, removed: true });
    this.#bus.emit("channel", { channel: keyOf(channel), scope, text, isRemoved: !current });
  }
}

/** `plugin/name`. */
export function keyOf({ plugin, declared }: Pick<ChannelState, "plugin" | "declared">): string {
  return `${plugin}/${declared.name}`;
}

/** A channel with its value as JSON; null values before the first one. */
export function channelText({ plugin, declared: { name }, current }: ChannelState): string {
  const { json = "null", revision = null, updatedAt = null } = current ?? {};
  const [head, tail] = [
    { plugin, name },
    { revision, updatedAt },
  ].map((part) => JSON.stringify(part).slice(1, -1));
  return `{${head},"value":${json},${tail}}`;
}

/** The named fields of a value, or all of it. */
function picked(value: unknown, fields: readonly string[] | undefined): unknown {
  if (!fields || typeof value !== "object" || value === null) return value;
  const own = fields.filter((name) => Object.hasOwn(value, name));
  return Object.fromEntries(own.map((name) => [name, (value as Record<string, unknown>)[name]]));
}

/** @throws MantelError `invalid` with the faults */
function parseValue(channel: Channel, json: string): unknown {
  const what = `the value of ${keyOf(channel)}`;
  const { depth, values } = new JsonShape().add(Buffer.from(json));
  if (depth > CHANNEL_LIMITS.depth || values > MOST_ITEMS) {
    const limits = `${CHANNEL_LIMITS.depth} levels and ${MOST_ITEMS} items`;
    throw new MantelError("invalid", `${what} has more than ${limits}`);
  }
  const value = parsed(json, what);
  const faults = faultsOf(channel.declared.schema, value);
  if (faults.length > 0) throw invalid(what, faults);
  return value;
}

function parsed(json: string, what: string): unknown {
  try {
    return JSON.parse(json) as unknown;
  } catch (cause) {
    throw new MantelError("invalid", `${what} is not JSON: ${(cause as Error).message}`, { cause });
  }
}

/** The JSON in one line, as an event stream needs it. The SDK sends no line breaks; other senders may. */
function oneLine(json: string, value: unknown): string {
  return /[\r\n]/.test(json) ? JSON.stringify(value) : json;
}

function fits({ schema, maxBytes }: DeclaredChannel, { json, value }: ChannelValue): boolean {
  return Buffer.byteLength(json) <= maxBytes && faultsOf(schema, value).length === 0;
}
