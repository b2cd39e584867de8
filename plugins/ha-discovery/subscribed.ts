import type { MqttClient, OnMessage } from "@mantel/plugin-sdk/mqtt";
import type { BridgeHealth } from "./health.ts";
import { MAX_PICTURE_PAYLOAD } from "./pictures.ts";

/** Far above what the devices of a home listen to. */
const MOST_TOPICS = 20_000;

/** Keeps a client subscribed to the topics that devices listen to, and to no others. */
export class Subscribed {
  readonly #client: MqttClient;
  readonly #health: BridgeHealth;
  readonly #onMessage: OnMessage;
  readonly #ends = new Map<string, () => void>();

  constructor(client: MqttClient, health: BridgeHealth, onMessage: OnMessage) {
    this.#client = client;
    this.#health = health;
    this.#onMessage = onMessage;
  }

  /**
   * Subscribes to what is new among the topics, and ends what is not among them. Messages on `large` topics may be as
   * long as a picture.
   */
  follow(topics: ReadonlySet<string>, large: ReadonlySet<string>): void {
    for (const [topic, end] of this.#ends) {
      if (topics.has(topic)) continue;
      end();
      this.#ends.delete(topic);
    }
    for (const topic of topics) {
      if (this.#ends.has(topic) || this.#ends.size >= MOST_TOPICS) continue;
      const end = this.#client.subscribe(topic, this.#onMessage, {
        ...(large.has(topic) ? { maxBytes: MAX_PICTURE_PAYLOAD } : {}),
        onTooLong: (where) =>
          this.#health.countIgnored({ what: "a message", why: "it is too long", where }),
      });
      this.#ends.set(topic, end);
    }
    const beyond = topics.size - this.#ends.size;
    const sentence = `devices name more than ${MOST_TOPICS} topics; ${beyond} are not listened to`;
    this.#health.set("topics", beyond > 0 ? sentence : undefined);
  }
}
