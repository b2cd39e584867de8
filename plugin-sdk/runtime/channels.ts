import { type TSchema } from "typebox";
import { Errors } from "typebox/schema";
import {
  CHANNEL_LIMITS,
  type ChannelDefinition,
  type ChannelDefinitions,
  type ChannelPublisher,
  type ChannelReader,
} from "../channel.ts";
import type { Log } from "../context.ts";
import { MantelError } from "../errors.ts";
import { LatestWins, RateBudget } from "../latest-wins.ts";
import type { ChannelChange, DeclaredChannel } from "../protocol.ts";
import type { HostLink } from "./host-link.ts";
import { freeze } from "./primordials.ts";

const RATE = { burst: CHANNEL_LIMITS.perSecond, perSecond: CHANNEL_LIMITS.perSecond };

/** The channels of a plugin as the host reads them. */
export function declaredChannels(channels: ChannelDefinitions = {}): DeclaredChannel[] {
  return Object.entries(channels).map(([name, { schema, title, maxBytes, scope, keep }]) => ({
    name,
    schema,
    title: title ?? name,
    maxBytes: maxBytes ?? CHANNEL_LIMITS.usualBytes,
    scope: scope ?? "read",
    keep: keep ?? false,
  }));
}

interface RuntimeDependencies {
  readonly id: string;
  readonly host: HostLink;
  readonly log: Log;
  /** Aborted when the generation begins to stop. */
  readonly signal: AbortSignal;
}

interface Value {
  readonly json: string;
  readonly settle: (sent?: Promise<void>) => void;
}

/** A generation's own channels, and those of other plugins that it reads. */
export class RuntimeChannels {
  readonly #parts: RuntimeDependencies;
  readonly #sending: LatestWins<Value>[] = [];
  readonly #readers = new Set<Reader>();
  #publishers: Readonly<Record<string, ChannelPublisher<never>>> | undefined;

  constructor(parts: RuntimeDependencies) {
    this.#parts = parts;
  }

  get isWaiting(): boolean {
    return this.#readers.size > 0;
  }

  /** Creates `ctx.channels`. */
  publishers(channels: ChannelDefinitions = {}): Readonly<Record<string, ChannelPublisher<never>>> {
    this.#publishers ??= freeze(
      Object.fromEntries(
        Object.entries(channels).map(([name, channel]) => [name, this.#publisher(name, channel)]),
      ),
    );
    return this.#publishers;
  }

  /** Creates `ctx.channel`. */
  reader(uses: readonly string[]) {
    return <S extends TSchema>(name: string, schema: S): ChannelReader<never> => {
      const { id, host } = this.#parts;
      if (!uses.includes(name) || !name.includes("/")) {
        const line = `add "${name}" to "mantel.uses" in its package.json`;
        throw new MantelError("invalid", `${id} reads the channel ${name} undeclared; ${line}`);
      }
      const followed = [...this.#readers].find((each) => each.name === name);
      const reader = new Reader(name, schema, this.#parts);
      this.#readers.add(reader);
      if (followed?.last) reader.take(followed.last);
      if (!followed) void this.#follow(name, host);
      return reader.handle;
    };
  }

  /** Takes a change of a channel of another plugin. */
  take(change: ChannelChange): void {
    for (const reader of this.#readers) {
      if (reader.name === change.channel) reader.take(change);
    }
  }

  /** Sends the values that wait. */
  flush(): void {
    for (const each of this.#sending) each.flush();
  }

  async #follow(name: string, host: HostLink): Promise<void> {
    try {
      const { isProvided } = await host.call("followChannel", { channel: name });
      if (!isProvided)
        this.#parts.log.info("no plugin provides the channel yet", { channel: name });
    } catch (error) {
      this.#parts.log.error("could not follow the channel", { channel: name, error });
    }
  }

  #publisher(name: string, channel: ChannelDefinition): ChannelPublisher<unknown> {
    const { host, log } = this.#parts;
    const budget = new RateBudget(RATE);
    let replaced = 0;
    let refused = 0;
    const sending = new LatestWins<Value>({
      waitMs: () => budget.waitMs(1),
      pass: ({ json, settle }) => {
        budget.take(1);
        settle(host.call("publishChannel", { channel: name, json }));
      },
      replaced: ({ settle }) => {
        settle();
        if (!isPowerOfTen(++replaced)) return;
        const rate = `${RATE.perSecond} values a second`;
        log.warn(`a channel is published faster than ${rate}; only the latest value is sent`, {
          channel: name,
          replaced,
        });
      },
    });
    this.#sending.push(sending);
    const send = async (value: unknown): Promise<void> => {
      let json: string;
      try {
        json = toJson(name, value, channel);
      } catch (error) {
        if (isPowerOfTen(++refused))
          log.warn("refused a value of a channel", { channel: name, count: refused, error });
        throw error;
      }
      await new Promise<void>((settle) => sending.put({ json, settle }));
    };
    const publish = (value: unknown): Promise<void> => {
      const sent = send(value);
      sent.catch(() => undefined); // it is in the log, and a caller that waits gets it
      return sent;
    };
    return freeze({ publish });
  }
}

/** True for the counts at which something that repeats is logged. */
const isPowerOfTen = (count: number): boolean => Number.isInteger(Math.log10(count));

/** @throws MantelError `invalid` for a value that JSON cannot carry unchanged, or that is too large */
function toJson(name: string, value: unknown, { maxBytes }: ChannelDefinition): string {
  const refused = (what: string): never => {
    throw new MantelError("invalid", `the value of the channel ${name} ${what}`);
  };
  let json: string | undefined;
  try {
    json = JSON.stringify(value, (key, each: unknown) => {
      if (typeof each === "number" && !Number.isFinite(each))
        return refused(`has ${each} at "${key}"; use null for an unknown number`);
      return each;
    });
  } catch (error) {
    if (error instanceof MantelError) throw error;
    return refused(`is not plain data (JSON): ${(error as Error).message}`);
  }
  if (json === undefined) return refused(`is ${typeof value}; publish plain data (JSON)`);
  const [bytes, limit] = [Buffer.byteLength(json), maxBytes ?? CHANNEL_LIMITS.usualBytes];
  if (bytes <= limit) return json;
  const todo = "publish less, or raise maxBytes in defineChannels";
  return refused(`has ${bytes} bytes of JSON, the limit is ${limit}; ${todo}`);
}

/** One use of another plugin's channel, with the schema that this plugin expects. */
class Reader {
  readonly name: string;
  readonly handle: ChannelReader<never>;
  readonly #schema: TSchema;
  readonly #parts: RuntimeDependencies;
  readonly #listeners = new Set<(value: never) => void>();
  #value: unknown;
  #misfits = 0;
  last: ChannelChange | undefined;

  constructor(name: string, schema: TSchema, parts: RuntimeDependencies) {
    this.name = name;
    this.#schema = schema;
    this.#parts = parts;
    const value = (): never => this.#value as never;
    this.handle = freeze({
      get value() {
        return value();
      },
      on: (listener: (value: never) => void) => this.#on(listener),
      [Symbol.asyncIterator]: () => this.#iterate() as AsyncIterator<never>,
    });
  }

  /** A value that does not fit this plugin's schema is not shown; the last one that fitted stays. */
  take(change: ChannelChange): void {
    this.last = change;
    const value: unknown = change.json === undefined ? undefined : JSON.parse(change.json);
    if (value !== undefined) {
      const [fits, faults] = Errors(this.#schema, value);
      if (!fits) return this.#refuse(faults[0]);
    }
    this.#value = value;
    for (const listener of this.#listeners) this.#tell(listener);
  }

  #refuse(fault: { readonly instancePath: string; readonly message: string } | undefined): void {
    if (!isPowerOfTen(++this.#misfits)) return;
    const { instancePath = "", message = "does not fit" } = fault ?? {};
    this.#parts.log.warn(
      "a value of the channel does not fit the schema of this plugin; keeping the last one",
      { channel: this.name, pointer: instancePath, fault: message, count: this.#misfits },
    );
  }

  #on(listener: (value: never) => void): () => void {
    if (this.#parts.signal.aborted) return () => undefined;
    const own = (value: never): void => listener(value); // the same function may be registered twice
    this.#listeners.add(own);
    return () => void this.#listeners.delete(own);
  }

  #tell(listener: (value: never) => void): void {
    if (this.#parts.signal.aborted) return;
    try {
      listener(this.#value as never);
    } catch (error) {
      this.#parts.log.error("a listener of the channel failed", { channel: this.name, error });
    }
  }

  async *#iterate(): AsyncGenerator {
    const { signal } = this.#parts;
    let isNew = this.#value !== undefined;
    let wake = (): void => undefined;
    const stop = this.#on(() => {
      isNew = true;
      wake();
    });
    const ended = (): void => wake();
    signal.addEventListener("abort", ended, { once: true });
    try {
      while (!signal.aborted) {
        if (isNew) {
          isNew = false;
          if (this.#value !== undefined) yield this.#value;
        } else await new Promise<void>((resolve) => (wake = resolve));
      }
    } finally {
      stop();
      signal.removeEventListener("abort", ended);
    }
  }
}
