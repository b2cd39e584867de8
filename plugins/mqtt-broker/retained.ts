import { type Log, type Static, Type } from "@mantel/plugin-sdk";
import type { Aedes, PublishPacket } from "aedes";
import type { RejectedRequestLog } from "./rejected-request-log.ts";

export const RETAINED_LIMITS = { messages: 10_000, bytes: 16 * 2 ** 20 };
/** Maximum size of the handover, because the state of a module is sent as one message. */
const HANDED_OVER_BYTES = 4 * 2 ** 20;

/** Retained messages as plain data. Payloads are base64, because they may not be text. */
export const RetainedState = Type.Array(
  Type.Object({
    topic: Type.String(),
    payload: Type.String(),
    qos: Type.Enum([0, 1, 2]),
  }),
);
type RetainedState = Static<typeof RetainedState>;

interface Message {
  readonly payload: Buffer;
  readonly qos: 0 | 1 | 2;
}

/** The used part of aedes-persistence; aedes' own types omit it. */
interface Persistence {
  storeRetained(packet: Message & { readonly topic: string }): Promise<void>;
}

/** The retained messages of a broker, with limits, and kept over a reload. */
export class RetainedMessages {
  readonly #broker: Aedes;
  readonly #byTopic = new Map<string, Message>();
  #bytes = 0;

  constructor(
    broker: Aedes,
    rejected: RejectedRequestLog,
    limits: Partial<typeof RETAINED_LIMITS> = {},
  ) {
    const most = { ...RETAINED_LIMITS, ...limits };
    const { persistence } = broker as unknown as { persistence: Persistence };
    const store = persistence.storeRetained.bind(persistence);
    this.#broker = broker;
    persistence.storeRetained = async (packet) => {
      const { topic, payload, qos } = packet;
      const bytes = this.#bytes - this.#sizeOf(topic) + topic.length + payload.length;
      // An empty payload removes the retained message (MQTT 3.1.1, 3.3.1.3).
      const isRemoval = payload.length === 0;
      const isFull = bytes > most.bytes || this.#byTopic.size >= most.messages;
      if (!isRemoval && isFull && (bytes > this.#bytes || !this.#byTopic.has(topic))) {
        rejected.count("a retained message was not kept: there are too many", { topic });
        return;
      }
      this.#bytes -= this.#sizeOf(topic);
      this.#byTopic.delete(topic);
      if (!isRemoval) this.#byTopic.set(topic, { payload, qos });
      this.#bytes += this.#sizeOf(topic);
      await store(packet);
    };
  }

  /** Publishes the messages handed over by the previous generation. */
  async restore(messages: RetainedState): Promise<void> {
    for (const { topic, payload, qos } of messages) {
      await this.#publish({
        cmd: "publish",
        topic,
        payload: Buffer.from(payload, "base64"),
        qos,
        retain: true,
        dup: false,
      });
    }
  }

  /** All messages up to a total of 4 MiB. Logs the number of those left out. */
  handOver(log: Log): RetainedState {
    const state: RetainedState = [];
    let bytes = 0;
    for (const [topic, { payload, qos }] of this.#byTopic) {
      if (bytes + payload.length > HANDED_OVER_BYTES) continue;
      bytes += payload.length;
      state.push({ topic, payload: payload.toString("base64"), qos });
    }
    const lost = this.#byTopic.size - state.length;
    if (lost > 0) log.warn("retained messages are too large to be handed over", { lost });
    return state;
  }

  #sizeOf(topic: string): number {
    const message = this.#byTopic.get(topic);
    return message ? topic.length + message.payload.length : 0;
  }

  #publish(packet: PublishPacket): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#broker.publish(packet, (error) => (error ? reject(error) : resolve()));
    });
  }
}
