import { Readable } from "node:stream";
import { type Log, type Static, Type } from "@mantel/plugin-sdk";
import type { Aedes, Client, Subscription } from "aedes";
import type { Account } from "./accounts.ts";
import type { RejectedRequestLog } from "./rejected-request-log.ts";

export const SESSION_LIMITS = {
  /** Maximum persistent sessions; beyond it the oldest without a client is removed. */
  sessions: 500,
  /** Maximum messages queued for one session, their bytes, and the bytes for all sessions. */
  queued: 1_000,
  queuedBytes: 2 ** 20,
  queuedBytesOfAll: 16 * 2 ** 20,
  /** Maximum subscriptions of one client, and the bytes of their filters. */
  subscriptions: 1_000,
  subscriptionBytes: 64 * 2 ** 10,
  /** The same for one of Mantel's plugins, which may follow every device of a home. */
  pluginsSubscriptions: 20_000,
  pluginsSubscriptionBytes: 2 * 2 ** 20,
  /** Maximum QoS 2 messages whose exchange is not complete, for one session. */
  incoming: 1_000,
};
/** Maximum size of the handover, because the state of a module is sent as one message. */
const HANDED_OVER_BYTES = 2 ** 20;

const Queued = Type.Object({
  brokerId: Type.String(),
  brokerCounter: Type.Integer(),
  topic: Type.String(),
  payload: Type.String(),
  qos: Type.Enum([0, 1, 2]),
});
type Queued = Static<typeof Queued>;

/** Sessions as plain data. Payloads are base64, because they may not be text. */
export const SessionState = Type.Array(
  Type.Object({
    id: Type.String(),
    /** Absent for an anonymous client. */
    user: Type.Optional(Type.String()),
    subscriptions: Type.Array(Type.Object({ topic: Type.String(), qos: Type.Enum([0, 1, 2]) })),
    queued: Type.Array(Queued),
  }),
);
type SessionState = Static<typeof SessionState>;

/** A message as stored by aedes until its subscriber has acknowledged it. */
interface QueuedPacket extends Omit<Queued, "payload" | "brokerId"> {
  readonly cmd: string;
  readonly brokerId: string | undefined;
  readonly payload: Buffer;
  messageId?: number | undefined;
}

type Stored = SessionState[number]["subscriptions"];
type Of = { readonly id: string };

/** The part of aedes-persistence that is used or replaced here; aedes' own types omit it. */
interface Persistence {
  addSubscriptions(client: Of, subscriptions: Stored): Promise<void>;
  cleanSubscriptions(client: Of): Promise<void>;
  subscriptionsByClient(client: Of): Promise<Stored>;
  outgoingEnqueue(to: { readonly clientId: string }, packet: QueuedPacket): Promise<void>;
  outgoingEnqueueCombi(
    to: readonly { readonly clientId: string }[],
    packet: QueuedPacket,
  ): Promise<void>;
  outgoingUpdate(client: Of, packet: QueuedPacket): Promise<void>;
  outgoingClearMessageId(client: Of, packet: QueuedPacket): Promise<QueuedPacket | undefined>;
  outgoingStream(client: Of): Readable;
  incomingStorePacket(client: Of, packet: { messageId: number }): Promise<void>;
  incomingGetPacket(client: Of, packet: { messageId: number }): Promise<unknown>;
  incomingDelPacket(client: Of, packet: { messageId: number }): Promise<void>;
  cleanIncoming(client: Of): Promise<void>;
}

interface Session {
  readonly user: string | undefined;
  /** The currently connected client. */
  client: Client | undefined;
  /** False for a session that ends with its connection. */
  lasts: boolean;
  readonly queue: QueuedPacket[];
  queuedBytes: number;
  readonly incoming: Set<number>;
}

/** The subscriptions of one connection, by filter. */
interface Granted {
  readonly filters: Set<string>;
  bytes: number;
}

/**
 * The sessions of clients. A session belongs to the user who first used its id. Sessions hold
 * queued messages (MQTT 3.1.1, 3.1.2.4), within limits, and are handed over on a reload. Incomplete
 * QoS 2 exchanges are not handed over.
 */
export class Sessions {
  readonly #persistence: Persistence;
  readonly #addSubscriptions: Persistence["addSubscriptions"];
  readonly #rejected: RejectedRequestLog;
  readonly #limits: typeof SESSION_LIMITS;
  readonly #byId = new Map<string, Session>();
  readonly #granted = new WeakMap<Of, Granted>();
  #queuedBytes = 0;

  constructor(
    broker: Aedes,
    rejected: RejectedRequestLog,
    limits: Partial<typeof SESSION_LIMITS> = {},
  ) {
    this.#persistence = (broker as unknown as { persistence: Persistence }).persistence;
    this.#addSubscriptions = this.#persistence.addSubscriptions.bind(this.#persistence);
    this.#rejected = rejected;
    this.#limits = { ...SESSION_LIMITS, ...limits };
    Object.assign(this.#persistence, this.#queues(), this.#incoming());
    // aedes passes all subscriptions of a packet, including refused ones.
    this.#persistence.addSubscriptions = (client, all) => {
      const granted = this.#granted.get(client)?.filters;
      return this.#addSubscriptions(
        client,
        all.filter(({ topic }) => granted?.has(topic)),
      );
    };
    broker.on("unsubscribe", (filters, client) => {
      for (const filter of filters) this.#revoke(client, filter);
    });
  }

  /** Assigns the session of its id to a client; false if it belongs to another user. */
  claim(client: Client, { name }: Account): boolean {
    const { id, clean, conn } = client;
    const found = this.#byId.get(id);
    if (found && found.user !== name) return false;
    if (clean) this.#drop(id);
    const session = this.#byId.get(id) ?? this.#open(id, name);
    session.client = client;
    session.lasts = !clean;
    conn.once("close", () => {
      if (session.client !== client || this.#byId.get(id) !== session) return;
      session.client = undefined;
      this.#byId.delete(id);
      if (session.lasts) this.#byId.set(id, session); // the last to leave is the youngest
    });
    this.#makeRoom();
    return true;
  }

  /** True if a client may have one more subscription, which is then counted. */
  grant(
    client: Client,
    { topic }: Pick<Subscription, "topic">,
    { isPluginsAccount }: Account,
  ): boolean {
    const granted = this.#granted.get(client) ?? { filters: new Set(), bytes: 0 };
    this.#granted.set(client, granted);
    if (granted.filters.has(topic)) return true;
    const bytes = granted.bytes + topic.length;
    const { pluginsSubscriptions, pluginsSubscriptionBytes } = this.#limits;
    const { subscriptions, subscriptionBytes } = this.#limits;
    if (granted.filters.size >= (isPluginsAccount ? pluginsSubscriptions : subscriptions))
      return false;
    if (bytes > (isPluginsAccount ? pluginsSubscriptionBytes : subscriptionBytes)) return false;
    granted.filters.add(topic);
    granted.bytes = bytes;
    return true;
  }

  /** Restores the sessions handed over by the previous generation. */
  async restore(sessions: SessionState): Promise<void> {
    for (const { id, user, subscriptions, queued } of sessions) {
      this.#open(id, user).lasts = true;
      await this.#addSubscriptions({ id }, subscriptions);
      for (const { payload, ...message } of queued) {
        const packet = { ...message, cmd: "publish", payload: Buffer.from(payload, "base64") };
        this.#enqueue(id, packet);
      }
    }
  }

  /**
   * All persistent sessions, with up to 1 MiB of queued messages. Logs the number of messages left
   * out.
   */
  async handOver(log: Log): Promise<SessionState> {
    const sessions: SessionState = [];
    let [bytes, lost] = [0, 0];
    for (const [id, { user, lasts, queue }] of this.#byId) {
      if (!lasts) continue;
      const stored = await this.#persistence.subscriptionsByClient({ id });
      const subscriptions = stored.map(({ topic, qos }) => ({ topic, qos }));
      const queued: Queued[] = [];
      for (const packet of queue) {
        if (!isPublish(packet)) continue;
        bytes += packet.payload.length;
        if (bytes > HANDED_OVER_BYTES) lost++;
        else queued.push(toQueued(packet));
      }
      sessions.push({ id, ...(user === undefined ? {} : { user }), subscriptions, queued });
    }
    if (lost > 0) log.warn("queued messages are too large to be handed over", { lost });
    return sessions;
  }

  #open(id: string, user: string | undefined): Session {
    const session: Session = {
      user,
      client: undefined,
      lasts: false,
      queue: [],
      queuedBytes: 0,
      incoming: new Set(),
    };
    this.#byId.set(id, session);
    return session;
  }

  #drop(id: string): void {
    this.#queuedBytes -= this.#byId.get(id)?.queuedBytes ?? 0;
    this.#byId.delete(id);
  }

  /**
   * Removes the session that has been without a client for longest, of the user who has the most
   * sessions.
   */
  #makeRoom(): void {
    const lasting = [...this.#byId].filter(([, { lasts }]) => lasts);
    if (lasting.length <= this.#limits.sessions) return;
    const counts = new Map<string | undefined, number>();
    for (const [, { user }] of lasting) counts.set(user, (counts.get(user) ?? 0) + 1);
    const away = lasting.filter(([, { client }]) => client === undefined);
    const most = Math.max(...away.map(([, { user }]) => counts.get(user) ?? 0));
    const [id] = away.find(([, { user }]) => counts.get(user) === most) ?? [];
    if (id === undefined) return;
    this.#rejected.count("too many persistent sessions; the oldest without a client was removed");
    this.#drop(id);
    void this.#persistence.cleanSubscriptions({ id });
  }

  #revoke(client: Of, filter: string): void {
    const granted = this.#granted.get(client);
    if (granted?.filters.delete(filter)) granted.bytes -= filter.length;
  }

  #enqueue(id: string, packet: QueuedPacket): void {
    const session = this.#byId.get(id);
    if (!session) return;
    const bytes = sizeOf(packet);
    const isFull =
      session.queue.length >= this.#limits.queued ||
      session.queuedBytes + bytes > this.#limits.queuedBytes ||
      this.#queuedBytes + bytes > this.#limits.queuedBytesOfAll;
    if (isFull) {
      const { user, client } = session;
      if (!client) this.#rejected.count("a message for an absent client was dropped", { user, id });
      return;
    }
    session.queue.push({ ...packet, messageId: undefined });
    session.queuedBytes += bytes;
    this.#queuedBytes += bytes;
  }

  #queues(): Partial<Persistence> {
    const queueOf = ({ id }: Of) => this.#byId.get(id)?.queue ?? [];
    return {
      outgoingEnqueue: async ({ clientId }, packet) => this.#enqueue(clientId, packet),
      outgoingEnqueueCombi: async (subscribers, packet) => {
        for (const { clientId } of subscribers) this.#enqueue(clientId, packet);
      },
      outgoingUpdate: async (client, packet) => {
        const queue = queueOf(client);
        const at = queue.findIndex((each) => isSame(each, packet));
        const queued = queue[at];
        if (queued) queued.messageId = packet.messageId;
        const exchange = queue.findIndex(({ messageId }) => messageId === packet.messageId);
        if (!queued && exchange >= 0) this.#replace(client, exchange, packet);
      },
      outgoingClearMessageId: async (client, packet) => {
        const at = queueOf(client).findIndex(({ messageId, ...each }) =>
          packet.messageId === undefined ? isSame(each, packet) : messageId === packet.messageId,
        );
        return at < 0 ? undefined : this.#replace(client, at, undefined);
      },
      outgoingStream: (client) => Readable.from([...queueOf(client)]),
    };
  }

  /** Replaces a queued packet with `packet`, or removes it. Returns the queued one. */
  #replace({ id }: Of, at: number, packet: QueuedPacket | undefined): QueuedPacket | undefined {
    const session = this.#byId.get(id);
    const [removed] = session?.queue.splice(at, 1, ...(packet ? [packet] : [])) ?? [];
    if (!session || !removed) return undefined;
    const more = (packet ? sizeOf(packet) : 0) - sizeOf(removed);
    session.queuedBytes += more;
    this.#queuedBytes += more;
    return removed;
  }

  /**
   * Only the ids of QoS 2 messages are needed again (MQTT 3.1.1, 4.3.3), so nothing else is stored.
   */
  #incoming(): Partial<Persistence> {
    const idsOf = ({ id }: Of) => this.#byId.get(id)?.incoming ?? new Set<number>();
    return {
      incomingStorePacket: async (client, { messageId }) => {
        const ids = idsOf(client);
        if (ids.size >= this.#limits.incoming) throw new Error("too many QoS 2 messages are open");
        ids.add(messageId);
      },
      incomingGetPacket: async (client, packet) => {
        if (!idsOf(client).has(packet.messageId)) throw new Error("no such packet");
        return packet;
      },
      incomingDelPacket: async (client, { messageId }) => {
        if (!idsOf(client).delete(messageId)) throw new Error("no such packet");
      },
      cleanIncoming: async (client) => idsOf(client).clear(),
    };
  }
}

/** Memory of a message, with some overhead. */
function sizeOf({ topic, payload }: Partial<QueuedPacket>): number {
  return (topic?.length ?? 0) + (payload?.length ?? 0) + 200;
}

function isSame(
  one: Pick<QueuedPacket, "brokerId" | "brokerCounter">,
  other: Pick<QueuedPacket, "brokerId" | "brokerCounter">,
): boolean {
  if (one.brokerId === undefined) return false; // a PUBREL contains only the id of its exchange
  return one.brokerId === other.brokerId && one.brokerCounter === other.brokerCounter;
}

function isPublish(packet: QueuedPacket): packet is QueuedPacket & { readonly brokerId: string } {
  return packet.cmd === "publish" && packet.brokerId !== undefined;
}

function toQueued(packet: QueuedPacket & { readonly brokerId: string }): Queued {
  const { brokerId, brokerCounter, topic, payload, qos } = packet;
  return { brokerId, brokerCounter, topic, payload: payload.toString("base64"), qos };
}
