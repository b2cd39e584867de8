import { randomUUID } from "node:crypto";
import { connect, type IConnackPacket, type MqttClient } from "mqtt";
import { withDeadline } from "../deadline.ts";
import { MantelError } from "../errors.ts";
import type { MqttBroker, MqttPublish } from "../service.ts";
import { Slots } from "../slots.ts";
import { Pings } from "./pings.ts";
import { HUNG_UP, refusal, speaksOlderMqtt } from "./reasons.ts";

const CONNECT_DEADLINE_MS = 5_000;
const CLOSE_DEADLINE_MS = 500;
/** A connection that died silently is noticed within one and a half of these. */
const KEEPALIVE_SECONDS = 10;
/** Unacknowledged messages at once. Mosquitto takes 20 and refuses more; a broker may ask for fewer. */
const IN_FLIGHT = 20;

/** From this on the codes of a SUBACK are refusals (MQTT 3.1.1, 3.9.3, and MQTT 5, 3.9.3). */
const REFUSED = 0x80;

/** Bytes of one packet that are read; who wants less says so for each subscription. */
const LONGEST_PACKET = 32 * 2 ** 20;

/** Takes each message that arrives. */
export type Receive = (topic: string, payload: Buffer, retained: boolean) => void;

/**
 * One connection to a broker, from its acceptance to its loss. It is never reconnected: the client
 * library sends what was not acknowledged again on every new connection, so a message that a broker
 * answers by hanging up would be sent for ever.
 */
export class Connection {
  /** Settles with the reason, for people, when the connection has ended. */
  readonly lost: Promise<string>;
  readonly #client: MqttClient;
  readonly #pings: Pings;
  readonly #slots: Slots;
  readonly #unacknowledged = new Set<(error: Error) => void>();
  #lossReason = "the broker closed the connection";

  private constructor(client: MqttClient, { properties }: IConnackPacket) {
    this.#client = client;
    this.#pings = new Pings(client);
    this.#slots = new Slots(Math.min(properties?.receiveMaximum ?? IN_FLIGHT, IN_FLIGHT));
    client.on("error", ({ message }) => (this.#lossReason = message));
    client.on("disconnect", ({ reasonCode }) => {
      this.#lossReason += ` with reason code ${reasonCode}`;
    });
    this.lost = new Promise((resolve) => {
      client.once("close", () => {
        for (const reject of this.#unacknowledged) reject(this.#lossError());
        client.end(true);
        resolve(this.#lossReason);
      });
    });
  }

  /**
   * Connects with MQTT 5, or with 3.1.1 to a broker that knows no 5. An abort ends it at any time.
   * @throws what the network, TLS or the broker has against it
   */
  static async open(
    broker: MqttBroker,
    receive: Receive,
    signal: AbortSignal,
  ): Promise<Connection> {
    const { client, accepted } = await connectWith(5, broker, signal).catch((error: unknown) => {
      if (!signal.aborted && speaksOlderMqtt(error)) return connectWith(4, broker, signal);
      throw error;
    });
    const connection = new Connection(client, accepted);
    client.on("message", (topic, payload, { retain }) => receive(topic, payload, retain));
    connection.#refuseLongPackets();
    const close = () => void connection.#close();
    signal.addEventListener("abort", close);
    if (signal.aborted) close();
    void connection.lost.then(() => signal.removeEventListener("abort", close));
    return connection;
  }

  /** 5, or 4, which is how MQTT 3.1.1 numbers itself. */
  get protocolVersion(): number {
    return this.#client.options.protocolVersion ?? 5;
  }

  /**
   * Resolves when the broker has acknowledged, or, since QoS 0 has no acknowledgement, when it has
   * answered a ping that was sent after the message. When that takes too long the connection is given
   * up, so that the message cannot arrive much later; unless it had QoS 0 and the broker is there, and only busy.
   *
   * @throws MantelError `broker_refused`, `broker_down`
   */
  async publish(message: MqttPublish, deadlineMs: number): Promise<void> {
    let sentAt = Number.POSITIVE_INFINITY;
    let late = false;
    const acknowledged = this.#slots.take().then(async () => {
      try {
        if (late) return;
        sentAt = performance.now();
        await this.#send(message);
      } finally {
        this.#slots.giveBack();
      }
    });
    try {
      await withDeadline(acknowledged, Math.round(deadlineMs), "the publish");
    } catch (error) {
      if (error instanceof MantelError && error.code !== "deadline_passed") throw error;
      late = true;
      // Too late, or the client library threw and may have written half a packet.
      const { message: reason } = error as Error;
      const isBusy = message.qos === 0 && this.#pings.heardAt > sentAt;
      if (sentAt < Number.POSITIVE_INFINITY && !isBusy) this.giveUp(reason);
      throw new MantelError("broker_down", reason, { cause: error });
    }
  }

  /**
   * Resolves with those of the filters that the broker refused. The others are granted at QoS 0: what is
   * sent again after a loss would be a second press of a button.
   * @throws MantelError `broker_down`
   */
  async subscribe(filters: readonly string[]): Promise<readonly string[]> {
    if (filters.length === 0) return [];
    const granted = this.#client.subscribeAsync([...filters], { qos: 0 });
    try {
      await withDeadline(granted, CONNECT_DEADLINE_MS, "the subscription");
      return [];
    } catch (error) {
      const { packet } = error as { packet?: { granted?: readonly unknown[] } };
      const codes = packet?.granted ?? [];
      const refused = filters.filter((_, at) => Number(codes[at]) >= REFUSED);
      if (codes.length === filters.length && refused.length > 0) return refused;
      throw refusal(error as Error, `a subscription to ${filters.length} filters`);
    }
  }

  async unsubscribe(filter: string): Promise<void> {
    const ended = this.#client.unsubscribeAsync(filter);
    await withDeadline(ended, CLOSE_DEADLINE_MS, "ending a subscription").catch(() => undefined);
  }

  /** Ends the connection at once; `lost` settles with the reason. */
  giveUp(reason: string): void {
    this.#lossReason = reason;
    this.#client.stream.destroy();
  }

  /** The library gathers a packet of any length; a broker of MQTT 5 keeps to what it was told itself. */
  #refuseLongPackets(): void {
    let unread = 0;
    this.#client.on("packetreceive", () => (unread = 0));
    this.#client.stream.on("data", ({ length }: Buffer) => {
      unread += length;
      if (unread > LONGEST_PACKET) {
        this.giveUp(`the broker sent a message of more than ${LONGEST_PACKET / 2 ** 20} MiB`);
      }
    });
  }

  async #send({ topic, payload, qos, retain }: MqttPublish): Promise<void> {
    if (!this.#client.connected) throw this.#lossError();
    let lose: (error: Error) => void = () => undefined;
    try {
      await new Promise<void>((resolve, reject) => {
        lose = reject;
        this.#unacknowledged.add(lose);
        this.#client.publish(topic, payload, { qos, retain }, (error) => {
          if (error) reject(refusal(error, `a publish to ${topic.slice(0, 200)}`));
          else if (qos === 0) this.#pings.send(resolve);
          else resolve();
        });
      });
    } finally {
      this.#unacknowledged.delete(lose);
    }
  }

  #lossError(): MantelError {
    return new MantelError("broker_down", `the message was not acknowledged: ${this.#lossReason}`);
  }

  /** Says good-bye, so that the broker does not take the end for a fault. */
  async #close(): Promise<void> {
    try {
      await withDeadline(this.#client.endAsync(), CLOSE_DEADLINE_MS, "closing the connection");
    } catch {
      this.giveUp("the link ended"); // the broker did not answer in time, and needs not
    }
  }
}

function connectWith(
  protocolVersion: 4 | 5,
  { url, ...credentials }: MqttBroker,
  signal: AbortSignal,
): Promise<{ client: MqttClient; accepted: IConnackPacket }> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted(); // an abort from before is not heard of below
    const client = connect(url, {
      ...credentials,
      protocolVersion,
      clientId: `mantel-${randomUUID().slice(0, 8)}`,
      rejectUnauthorized: true,
      reconnectPeriod: 0,
      connectTimeout: CONNECT_DEADLINE_MS,
      keepalive: KEEPALIVE_SECONDS,
      queueQoSZero: false,
      writeCache: false, // 65,536 numbers, made at the first packet of every process
      ...(protocolVersion === 5 ? { properties: { maximumPacketSize: LONGEST_PACKET } } : {}),
    });
    const stopListening = () => {
      client.off("connect", succeed).off("error", fail).off("close", hangUp);
      signal.removeEventListener("abort", abort);
    };
    const succeed = (accepted: IConnackPacket) => {
      stopListening();
      resolve({ client, accepted });
    };
    const fail = (error: Error) => {
      stopListening();
      client.end(true);
      reject(error);
    };
    const hangUp = () => fail(new Error(HUNG_UP));
    const abort = () => fail(new Error("the link ends"));
    client.on("connect", succeed).on("error", fail).on("close", hangUp);
    signal.addEventListener("abort", abort);
  });
}
