import { randomUUID } from "node:crypto";
import { connect, type IConnackPacket, type MqttClient } from "mqtt";
import { withDeadline } from "../deadline.ts";
import { MantelError } from "../errors.ts";
import { Semaphore } from "../semaphore.ts";
import type { MqttBroker, MqttPublish } from "../service.ts";
import { Pings } from "./pings.ts";
import { HUNG_UP, refusal, speaksOlderMqtt } from "./reasons.ts";

const CONNECT_DEADLINE_MS = 5_000;
const CLOSE_DEADLINE_MS = 500;
/** A dead connection is detected within one and a half of these intervals. */
const KEEPALIVE_SECONDS = 10;
/** Maximum unacknowledged messages. Mosquitto accepts 20; a broker may ask for fewer. */
const IN_FLIGHT = 20;

/** SUBACK codes from this value are refusals (MQTT 3.1.1, 3.9.3, and MQTT 5, 3.9.3). */
const REFUSED = 0x80;

/** Maximum size of a received packet in bytes. A subscription can set a lower limit. */
const LONGEST_PACKET = 32 * 2 ** 20;

/** Receives each incoming message. */
export type Receive = (topic: string, payload: Buffer, retained: boolean) => void;

/**
 * One connection to a broker, from CONNACK to its loss. It never reconnects: on every new connection the client
 * library resends unacknowledged messages, so a message that makes the broker disconnect would be sent for ever.
 */
export class Connection {
  /** Resolves with a user-facing reason when the connection has ended. */
  readonly lost: Promise<string>;
  readonly #client: MqttClient;
  readonly #pings: Pings;
  readonly #slots: Semaphore;
  readonly #unacknowledged = new Set<(error: Error) => void>();
  #lossReason = "the broker closed the connection";

  private constructor(client: MqttClient, { properties }: IConnackPacket) {
    this.#client = client;
    this.#pings = new Pings(client);
    this.#slots = new Semaphore(Math.min(properties?.receiveMaximum ?? IN_FLIGHT, IN_FLIGHT));
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
   * Connects with MQTT 5, or with 3.1.1 if the broker does not support 5. An abort ends the connection at any time.
   * @throws the error of the network, of TLS or of the broker
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

  /** The protocol level: 5, or 4 for MQTT 3.1.1. */
  get protocolVersion(): number {
    return this.#client.options.protocolVersion ?? 5;
  }

  /**
   * Publishes a message. Resolves when the broker has acknowledged it. QoS 0 has no acknowledgement, so it resolves
   * when the broker has answered a ping sent after the message. On a timeout the connection is closed, so that the
   * message cannot arrive much later, except for QoS 0 while the broker is only busy.
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
      // A timeout, or the client library threw and may have written half a packet.
      const { message: reason } = error as Error;
      const isBusy = message.qos === 0 && this.#pings.heardAt > sentAt;
      if (sentAt < Number.POSITIVE_INFINITY && !isBusy) this.giveUp(reason);
      throw new MantelError("broker_down", reason, { cause: error });
    }
  }

  /**
   * Subscribes to filters and resolves with those that the broker refused. Uses QoS 0, because a message that is
   * resent after a connection loss would count as a second press of a button.
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

  /** Closes the connection immediately; `lost` resolves with the reason. */
  giveUp(reason: string): void {
    this.#lossReason = reason;
    this.#client.stream.destroy();
  }

  /** Closes the connection at a packet that is too long. The library has no limit; MQTT 5 brokers respect the announced one. */
  #refuseLongPackets(): void {
    let unread = 0;
    this.#client.on("packetreceive", () => (unread = 0));
    this.#client.stream.on("data", ({ length }: Buffer) => {
      unread += length;
      if (unread > LONGEST_PACKET) {
        this.giveUp(`the broker sent a message larger than ${LONGEST_PACKET / 2 ** 20} MiB`);
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

  /** Disconnects properly, so that the broker does not publish a last will. */
  async #close(): Promise<void> {
    try {
      await withDeadline(this.#client.endAsync(), CLOSE_DEADLINE_MS, "closing the connection");
    } catch {
      this.giveUp("the plugin closed the connection"); // without waiting for the broker any longer
    }
  }
}

function connectWith(
  protocolVersion: 4 | 5,
  { url, ...credentials }: MqttBroker,
  signal: AbortSignal,
): Promise<{ client: MqttClient; accepted: IConnackPacket }> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted(); // the listener below does not see an earlier abort
    const client = connect(url, {
      ...credentials,
      protocolVersion,
      clientId: `mantel-${randomUUID().slice(0, 8)}`,
      rejectUnauthorized: true,
      reconnectPeriod: 0,
      connectTimeout: CONNECT_DEADLINE_MS,
      keepalive: KEEPALIVE_SECONDS,
      queueQoSZero: false,
      writeCache: false, // the cache holds 65,536 numbers and is created at the first packet of every process
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
    const abort = () => fail(new Error("the connection attempt was aborted"));
    client.on("connect", succeed).on("error", fail).on("close", hangUp);
    signal.addEventListener("abort", abort);
  });
}
