import { type Log, type Static, Type } from "@mantel/plugin-sdk";
import type { Aedes, PublishPacket } from "aedes";

/** More than this is not handed over, because the state of a module travels as one message. */
const HANDED_OVER_BYTES = 4 * 2 ** 20;

/** Retained messages as plain data; payloads are base64, because they need not be text. */
export const RetainedState = Type.Array(
  Type.Object({
    topic: Type.String(),
    payload: Type.String(),
    qos: Type.Enum([0, 1, 2]),
  }),
);
type RetainedState = Static<typeof RetainedState>;

/** The retained messages of a broker, so that a reload does not lose them. */
export class RetainedMessages {
  readonly #broker: Aedes;
  readonly #byTopic = new Map<string, { payload: Buffer; qos: 0 | 1 | 2 }>();

  constructor(broker: Aedes) {
    this.#broker = broker;
    broker.on("publish", ({ topic, payload, qos, retain }) => {
      if (!retain) return;
      // An empty payload removes the retained message (MQTT 3.1.1, 3.3.1.3).
      if (payload.length === 0) this.#byTopic.delete(topic);
      else this.#byTopic.set(topic, { payload: Buffer.from(payload), qos });
    });
  }

  /** Publishes what the generation before has handed over. */
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

  /** All of them, up to a total of 4 MiB; how many that leaves out is logged. */
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

  #publish(packet: PublishPacket): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#broker.publish(packet, (error) => (error ? reject(error) : resolve()));
    });
  }
}
