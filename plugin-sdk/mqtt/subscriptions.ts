import type { Log } from "../context.ts";

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

interface Arrived {
  readonly topic: string;
  readonly payload: Buffer;
  readonly retained: boolean;
}

/** Who wants which messages of a connection, and hands them out. */
export class Subscriptions {
  readonly #log: Log;
  /** Those of one topic, by the topic: a bridge may listen to thousands, and each message looks here. */
  readonly #exact = new Map<string, Set<Subscription>>();
  readonly #patterns = new Set<Subscription>();
  readonly #counts = new Map<string, number>();

  constructor(log: Log) {
    this.#log = log;
  }

  /** Each filter once. */
  get filters(): string[] {
    return [
      ...new Set([...this.#exact.keys(), ...[...this.#patterns].map(({ filter }) => filter)]),
    ];
  }

  /** The function that it returns takes the subscription away; true when nobody else has its filter. */
  add(filter: string, onMessage: OnMessage, options: SubscribeOptions = {}): () => boolean {
    const added: Subscription = { ...options, filter, matches: matcherOf(filter), onMessage };
    return /[+#]/.test(filter) ? this.#addPattern(added) : this.#addExact(added);
  }

  #addPattern(added: Subscription): () => boolean {
    this.#patterns.add(added);
    return () =>
      this.#patterns.delete(added) &&
      ![...this.#patterns].some(({ filter }) => filter === added.filter);
  }

  #addExact(added: Subscription): () => boolean {
    const same = this.#exact.get(added.filter) ?? new Set();
    this.#exact.set(added.filter, same.add(added));
    return () => {
      const isLast = same.delete(added) && same.size === 0;
      if (isLast) this.#exact.delete(added.filter);
      return isLast;
    };
  }

  /** A message belongs to every subscription that its topic matches. What one of them throws is logged. */
  readonly receive: OnMessage = (topic, payload, retained) => {
    const patterns = [...this.#patterns].filter(({ matches }) => matches(topic));
    for (const each of [...(this.#exact.get(topic) ?? []), ...patterns]) {
      this.#give(each, { topic, payload, retained });
    }
  };

  #give(to: Subscription, { topic, payload, retained }: Arrived): void {
    if (payload.length > (to.maxBytes ?? USUAL_BYTES)) {
      this.#warn("a message is too long and was left out", { topic, bytes: payload.length });
      to.onTooLong?.(topic, payload.length);
      return;
    }
    try {
      to.onMessage(topic, payload, retained);
    } catch (error) {
      this.#warn("a message could not be taken", { topic, error });
    }
  }

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
