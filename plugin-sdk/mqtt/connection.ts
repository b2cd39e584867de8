import type { IConnackPacket, MqttClient as LibraryClient } from "mqtt";
import { withDeadline } from "../deadline.ts";
import { MantelError } from "../errors.ts";
import { Semaphore } from "../semaphore.ts";
import type { MqttPublish } from "../services/mqtt.ts";
import { limitPackets, pauseBetweenMessages, requestError } from "./open-connection.ts";
import { Pings } from "./pings.ts";

const SUBSCRIBE_DEADLINE_MS = 5_000;
const CLOSE_DEADLINE_MS = 500;
/** Maximum unacknowledged messages. Mosquitto accepts 20; a broker may ask for fewer. */
const IN_FLIGHT = 20;
/** SUBACK codes from this value are refusals (MQTT 3.1.1, 3.9.3, and MQTT 5, 3.9.3). */
const REFUSED = 0x80;

/** One connection to a broker, from CONNACK to its loss. */
export interface Connection {
  readonly library: LibraryClient;
  readonly pings: Pings;
  /** Limits the messages that the broker has not acknowledged. */
  readonly slots: Semaphore;
  readonly unacknowledged: Set<(error: Error) => void>;
  /** Resolves with a user-facing reason when the connection has ended. */
  readonly lost: Promise<string>;
  lossReason: string;
}

/** Observes an open connection. Its loss rejects all unacknowledged messages. */
export function trackLoss(library: LibraryClient, { properties }: IConnackPacket): Connection {
  const connection = {
    library,
    pings: new Pings(library),
    slots: new Semaphore(Math.min(properties?.receiveMaximum ?? IN_FLIGHT, IN_FLIGHT)),
    unacknowledged: new Set<(error: Error) => void>(),
    lossReason: "the broker closed the connection",
  };
  library.on("disconnect", ({ reasonCode }) => {
    connection.lossReason += ` with reason code ${reasonCode}`;
  });
  const lost = new Promise<string>((resolve) => {
    library.once("close", () => {
      for (const reject of connection.unacknowledged) reject(lossError(connection.lossReason));
      library.end(true);
      resolve(connection.lossReason);
    });
  });
  const tracked = Object.assign(connection, { lost });
  // After a packet that it cannot read, the library reads no more and leaves the connection open.
  library.on("error", ({ message }) => destroy(tracked, message));
  limitPackets(library, (reason) => destroy(tracked, reason));
  pauseBetweenMessages(library);
  return tracked;
}

/** Closes a connection at an abort, also at an earlier one. */
export function closeAtAbort(connection: Connection, signal: AbortSignal): void {
  const abort = () => void close(connection);
  signal.addEventListener("abort", abort);
  if (signal.aborted) abort();
  void connection.lost.then(() => signal.removeEventListener("abort", abort));
}

/** Disconnects properly, so that the broker does not publish a last will. */
async function close(connection: Connection): Promise<void> {
  const { library } = connection;
  try {
    await withDeadline(library.endAsync(), CLOSE_DEADLINE_MS, "closing the connection");
  } catch {
    destroy(connection, "the plugin closed the connection"); // without waiting for the broker any longer
  }
}

/** Closes a connection immediately; `lost` resolves with the reason. */
export function destroy(connection: Connection, reason: string): void {
  connection.lossReason = reason;
  connection.library.stream.destroy();
}

export async function send(connection: Connection, message: MqttPublish): Promise<void> {
  const { library, pings, unacknowledged } = connection;
  const { topic, payload, qos, retain } = message;
  if (!library.connected) throw lossError(connection.lossReason);
  let lose: (error: Error) => void = () => undefined;
  try {
    await new Promise<void>((resolve, reject) => {
      lose = reject;
      unacknowledged.add(lose);
      library.publish(topic, payload, { qos, retain }, (error) => {
        if (error) reject(requestError(error, `a publish to ${topic.slice(0, 200)}`));
        else if (qos === 0) pings.send(resolve);
        else resolve();
      });
    });
  } finally {
    unacknowledged.delete(lose);
  }
}

/**
 * Subscribes to filters and resolves with those that the broker refused. Uses QoS 0, because a message that is
 * resent after a connection loss would count as a second press of a button.
 * @throws MantelError `broker_down`
 */
export async function subscribe(
  { library }: Connection,
  filters: readonly string[],
): Promise<readonly string[]> {
  if (filters.length === 0) return [];
  const granted = library.subscribeAsync([...filters], { qos: 0 });
  try {
    await withDeadline(granted, SUBSCRIBE_DEADLINE_MS, "the subscription");
    return [];
  } catch (error) {
    const { packet } = error as { packet?: { granted?: readonly unknown[] } };
    const codes = packet?.granted ?? [];
    const refused = filters.filter((_, at) => Number(codes[at]) >= REFUSED);
    if (codes.length === filters.length && refused.length > 0) return refused;
    throw requestError(error as Error, `a subscription to ${filters.length} filters`);
  }
}

export async function unsubscribe({ library }: Connection, filter: string): Promise<void> {
  const ended = library.unsubscribeAsync(filter);
  await withDeadline(ended, CLOSE_DEADLINE_MS, "ending a subscription").catch(() => undefined);
}

function lossError(reason: string): MantelError {
  return new MantelError("broker_down", `the message was not acknowledged: ${reason}`);
}
