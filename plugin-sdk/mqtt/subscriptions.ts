import type { Log } from "../context.ts";
import { topicMatcher } from "../topic-filter.ts";

/** Default payload limit in bytes. Most messages are far smaller. */
const USUAL_BYTES = 256 * 1024;

/** Handles one message. `retained` is true for a stored message and false for a live one. */
export type OnMessage = (topic: string, payload: Buffer, retained: boolean) => void;

export interface SubscribeOptions {
  /** Maximum size of a payload in bytes; absent means 256 KiB. */
  readonly maxBytes?: number;
  /** Called for each dropped message that was longer. */
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

/** The subscriptions of a client. Distributes each message to those that match. */
export class Subscriptions {
  readonly #log: Log;
  /** Subscriptions without wildcards, by topic, for a fast look-up: a bridge can have thousands. */
  readonly #exact = new Map<string, Set<Subscription>>();
  readonly #patterns = new Set<Subscription>();
  readonly #counts = new Map<string, number>();

  constructor(log: Log) {
    this.#log = log;
  }

  /** All filters without duplicates. */
  get filters(): string[] {
    return [
      ...new Set([...this.#exact.keys(), ...[...this.#patterns].map(({ filter }) => filter)]),
    ];
  }

  /** Adds a subscription. Returns a function that removes it and returns true if no other one has the same filter. */
  add(filter: string, onMessage: OnMessage, options: SubscribeOptions = {}): () => boolean {
    const added: Subscription = { ...options, filter, matches: topicMatcher(filter), onMessage };
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

  /** Passes a message to every matching subscription. Errors of a handler are logged. */
  readonly receive: OnMessage = (topic, payload, retained) => {
    const patterns = [...this.#patterns].filter(({ matches }) => matches(topic));
    for (const each of [...(this.#exact.get(topic) ?? []), ...patterns]) {
      this.#give(each, { topic, payload, retained });
    }
  };

  #give(to: Subscription, { topic, payload, retained }: Arrived): void {
    if (payload.length > (to.maxBytes ?? USUAL_BYTES)) {
      this.#warn("MQTT message dropped: too long", { topic, bytes: payload.length });
      to.onTooLong?.(topic, payload.length);
      return;
    }
    try {
      to.onMessage(topic, payload, retained);
    } catch (error) {
      this.#warn("the handler of an MQTT message failed", { topic, error });
    }
  }

  /** Logs the first occurrence, and the count at 10, 100, 1,000 and so on, because a fault often repeats. */
  #warn(sentence: string, fields: { topic: string; [field: string]: unknown }): void {
    const count = (this.#counts.get(sentence) ?? 0) + 1;
    this.#counts.set(sentence, count);
    if (!Number.isInteger(Math.log10(count))) return;
    this.#log.warn(sentence, { ...fields, topic: fields.topic.slice(0, 200), count });
  }
}
