import type { MqttLink, OnMessage } from "@mantel/plugin-sdk/mqtt";

/** Far above what the devices of a house listen to. */
const MOST_TOPICS = 20_000;

/** Keeps a link subscribed to the topics that devices listen to, and to no others. */
export class Subscribed {
  readonly #link: MqttLink;
  readonly #onMessage: OnMessage;
  readonly #ends = new Map<string, () => void>();

  constructor(link: MqttLink, onMessage: OnMessage) {
    this.#link = link;
    this.#onMessage = onMessage;
  }

  /** Subscribes to what is new among the topics, and ends what is not among them. */
  follow(topics: ReadonlySet<string>): void {
    for (const [topic, end] of this.#ends) {
      if (topics.has(topic)) continue;
      end();
      this.#ends.delete(topic);
    }
    for (const topic of topics) {
      if (this.#ends.has(topic) || this.#ends.size >= MOST_TOPICS) continue;
      this.#ends.set(topic, this.#link.subscribe(topic, this.#onMessage));
    }
  }
}
