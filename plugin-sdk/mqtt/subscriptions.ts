import type { Log } from "../plugin.ts";

/** Bytes of a payload that most messages stay far below. */
const USUAL_BYTES = 256 * 1024;

/** Takes one message. `retained` tells one that the broker had kept from one that is sent now. */
export type OnMessage = (topic: string, payload: Buffer, retained: boolean) => void;

export interface SubscribeOptions {
  /** Bytes that a payload may have; absent means 256 KiB. */
  readonly maxBytes?: number;
  /** Hears of each message that was longer. */
  readonly onTooLong?: (topic: string, bytes: number) => void;
}

interface Subscription extends SubscribeOptions {
  readonly filter: string;
  readonly matches: (topic: string) => boolean;
  readonly onMessage: OnMessage;
}

/** Who wants which messages of a connection, and hands them out. */
export class Subscriptions {
  readonly #log: Log;
  readonly #all = new Set<Subscription>();
  readonly #counts = new Map<string, number>();

  constructor(log: Log) {
    this.#log = log;
  }

  /** Each filter once. */
  get filters(): string[] {
    return [...new Set([...this.#all].map(({ filter }) => filter))];
  }

  /** The function that it returns takes the subscription away; true when nobody else has its filter. */
  add(filter: string, onMessage: OnMessage, options: SubscribeOptions = {}): () => boolean {
    const added: Subscription = { ...options, filter, matches: matcherOf(filter), onMessage };
    this.#all.add(added);
    return () => this.#all.delete(added) && !this.filters.includes(filter);
  }

  /** A message belongs to every subscription that its topic matches. What one of them throws is logged. */
  readonly receive: OnMessage = (topic, payload, retained) => {
    for (const each of this.#all) {
      if (!each.matches(topic)) continue;
      if (payload.length > (each.maxBytes ?? USUAL_BYTES)) {
        this.#warn("a message is too long and was left out", { topic, bytes: payload.length });
        each.onTooLong?.(topic, payload.length);
        continue;
      }
      try {
        each.onMessage(topic, payload, retained);
      } catch (error) {
        this.#warn("a message could not be taken", { topic, error });
      }
    }
  };

  /** What goes wrong with one message goes wrong with many: each tenfold is logged. */
  #warn(sentence: string, fields: { topic: string; [field: string]: unknown }): void {
    const count = (this.#counts.get(sentence) ?? 0) + 1;
    this.#counts.set(sentence, count);
    if (!Number.isInteger(Math.log10(count))) return;
    this.#log.warn(sentence, { ...fields, topic: fields.topic.slice(0, 200), count });
  }
}

/** Tells whether a topic matches a filter (MQTT 5, 4.7.1): `+` is one level, `#` all that follow. */
function matcherOf(filter: string): (topic: string) => boolean {
  const levels = filter.split("/");
  const takesRest = levels.at(-1) === "#";
  const named = takesRest ? levels.slice(0, -1) : levels;
  return (topic) => {
    const parts = topic.split("/");
    if (parts.length < named.length || (!takesRest && parts.length > named.length)) return false;
    if (topic.startsWith("$") && !filter.startsWith("$")) return false;
    return named.every((level, at) => level === "+" || level === parts[at]);
  };
}
