import { type Log, type Static, Type } from "@mantel/plugin-sdk";
import type { Aedes } from "aedes";

/** More than this is not handed over, because the state of a module travels as one message. */
const HANDED_OVER_BYTES = 2 ** 20;

const Queued = Type.Object({
  brokerId: Type.String(),
  brokerCounter: Type.Integer(),
  topic: Type.String(),
  payload: Type.String(),
  qos: Type.Enum([0, 1, 2]),
});
type Queued = Static<typeof Queued>;

/** Sessions as plain data; payloads are base64, because they need not be text. */
export const SessionState = Type.Array(
  Type.Object({
    id: Type.String(),
    subscriptions: Type.Array(Type.Object({ topic: Type.String(), qos: Type.Enum([0, 1, 2]) })),
    queued: Type.Array(Queued),
  }),
);
type SessionState = Static<typeof SessionState>;

/** What aedes keeps a message as, until its subscriber has acknowledged it. */
interface QueuedPacket extends Omit<Queued, "payload"> {
  readonly cmd: string;
  readonly payload: Buffer;
}

/** The part of aedes-persistence that is used here; aedes' own types leave it out. */
interface Persistence {
  addSubscriptions(
    client: { readonly id: string },
    subscriptions: SessionState[number]["subscriptions"],
  ): Promise<void>;
  subscriptionsByClient(client: {
    readonly id: string;
  }): Promise<SessionState[number]["subscriptions"]>;
  outgoingEnqueue(to: { readonly clientId: string }, packet: QueuedPacket): Promise<void>;
  outgoingStream(client: { readonly id: string }): AsyncIterable<QueuedPacket>;
}

/**
 * The sessions that outlast their connections (MQTT 3.1.1, 3.1.2.4), with what waits for their clients,
 * so that a reload does not lose them. A QoS 2 exchange that is half done is not part of it.
 */
export class Sessions {
  readonly #persistence: Persistence;
  readonly #ids = new Set<string>();

  constructor(broker: Aedes) {
    this.#persistence = (broker as unknown as { persistence: Persistence }).persistence;
    broker.on("client", ({ id, clean }) => {
      if (clean) this.#ids.delete(id);
      else this.#ids.add(id);
    });
  }

  /** Opens what the generation before has handed over. */
  async restore(sessions: SessionState): Promise<void> {
    for (const { id, subscriptions, queued } of sessions) {
      this.#ids.add(id);
      await this.#persistence.addSubscriptions({ id }, subscriptions);
      for (const { payload, ...message } of queued) {
        const packet = { ...message, cmd: "publish", payload: Buffer.from(payload, "base64") };
        await this.#persistence.outgoingEnqueue({ clientId: id }, packet);
      }
    }
  }

  /** All of them, with up to 1 MiB of what is queued; how many messages that leaves out is logged. */
  async handOver(log: Log): Promise<SessionState> {
    const sessions: SessionState = [];
    let [bytes, lost] = [0, 0];
    for (const id of this.#ids) {
      const stored = await this.#persistence.subscriptionsByClient({ id });
      const subscriptions = stored.map(({ topic, qos }) => ({ topic, qos }));
      const queued: Queued[] = [];
      for await (const packet of this.#persistence.outgoingStream({ id })) {
        if (packet.cmd !== "publish") continue;
        bytes += packet.payload.length;
        if (bytes > HANDED_OVER_BYTES) lost++;
        else queued.push(toQueued(packet));
      }
      sessions.push({ id, subscriptions, queued });
    }
    if (lost > 0) log.warn("queued messages are too large to be handed over", { lost });
    return sessions;
  }
}

function toQueued({ brokerId, brokerCounter, topic, payload, qos }: QueuedPacket): Queued {
  return { brokerId, brokerCounter, topic, payload: payload.toString("base64"), qos };
}
