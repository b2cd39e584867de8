import { randomUUID } from "node:crypto";
import { connect, type IConnackPacket, type MqttClient as LibraryClient, ReasonCodes } from "mqtt";
import { MantelError } from "../errors.ts";
import type { MqttBroker } from "../services/mqtt.ts";

const CONNECT_DEADLINE_MS = 5_000;
/** A dead connection is detected within one and a half of these intervals. */
const KEEPALIVE_SECONDS = 10;
/** Maximum size of a received packet in bytes. A subscription can set a lower limit. */
const LONGEST_PACKET = 32 * 2 ** 20;
/** After this time of messages in one turn of the event loop other work has its turn. Parsing adds to it. */
const SLICE_MS = 2;
/** Bytes that are parsed at once. A socket gives up to 64 KiB, which may be a thousand messages. */
const PARSED_AT_ONCE = 8 * 2 ** 10;

/** CONNACK codes for an unsupported protocol version: MQTT 3.1.1, 3.2.2.3, and MQTT 5, 3.2.2.2. */
const VERSION_CODES = new Set<unknown>([1, 132]);
/** CONNACK codes for a wrong user name or password. */
const CREDENTIAL_CODES = new Set<unknown>([4, 5, 134, 135]);

/** The error message for a connection that was closed before CONNACK. */
const HUNG_UP = "the broker closed the connection without an answer";

/** A client of the library that is connected, and the packet by which the broker accepted it. */
interface Opened {
  readonly client: LibraryClient;
  readonly accepted: IConnackPacket;
}

/**
 * Connects with MQTT 5, or with 3.1.1 if the broker does not support 5. The connection never reconnects: on every new
 * connection the library resends unacknowledged messages, so a message that makes the broker disconnect would be sent
 * for ever.
 * @throws the error of the network, of TLS or of the broker; an error when aborted before it is open
 */
export async function openConnection(broker: MqttBroker, signal: AbortSignal): Promise<Opened> {
  try {
    return await connectWith(5, broker, signal);
  } catch (error) {
    if (signal.aborted || !isOlderMqtt(error)) throw error;
    return connectWith(4, broker, signal);
  }
}

/** True if the broker may not support MQTT 5. Some brokers report it, others only close the connection. */
export function isOlderMqtt(error: unknown): boolean {
  const { code, message } = error as { code?: unknown; message?: string };
  return VERSION_CODES.has(code) || message === HUNG_UP;
}

function connectWith(
  protocolVersion: 4 | 5,
  { url, ...credentials }: MqttBroker,
  signal: AbortSignal,
): Promise<Opened> {
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

/**
 * Calls `onTooLong` with a reason when a received packet exceeds 32 MiB. The library has no limit; MQTT 5 brokers
 * respect the announced one.
 */
export function limitPackets(client: LibraryClient, onTooLong: (reason: string) => void): void {
  let unread = 0;
  client.on("packetreceive", () => (unread = 0));
  client.stream.on("data", ({ length }: Buffer) => {
    unread += length;
    if (unread <= LONGEST_PACKET) return;
    onTooLong(`the broker sent a message larger than ${LONGEST_PACKET / 2 ** 20} MiB`);
  });
}

/**
 * Lets other work of the process run between messages: a broker sends all that is retained at once, which may be
 * thousands of messages.
 */
export function pauseBetweenMessages(
  client: Pick<LibraryClient, "handleMessage" | "stream">,
): void {
  const push = client.stream.push.bind(client.stream);
  client.stream.push = (chunk: unknown, encoding) => {
    if (!Buffer.isBuffer(chunk)) return push(chunk, encoding);
    let wantsMore = true;
    for (let at = 0; at < chunk.length; at += PARSED_AT_ONCE) {
      wantsMore = push(chunk.subarray(at, at + PARSED_AT_ONCE));
    }
    return wantsMore;
  };
  let endsAt: number | undefined; // of the messages of this turn
  client.handleMessage = (_packet, done) => {
    if (endsAt === undefined) {
      endsAt = performance.now() + SLICE_MS;
      setImmediate(() => (endsAt = undefined));
    }
    if (performance.now() < endsAt) done();
    else setImmediate(done);
  };
}

/** The user-facing reason for a missing connection. It never contains credentials from the address. */
export function connectionError(error: unknown, url: string | undefined): string {
  const { code, message } = error as { code?: unknown; message: string };
  if (url === undefined || error instanceof MantelError) return message;
  const { host, hostname } = new URL(url);
  if (CREDENTIAL_CODES.has(code)) return `${host} refuses the user name or the password`;
  switch (code) {
    case "ECONNREFUSED":
      return `nothing listens at ${host}`;
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return `the name ${hostname} cannot be resolved`;
  }
  if (typeof code === "string" && /CERT|SELF_SIGNED|VERIFY|ISSUER|TLS/.test(code)) {
    return `the certificate of ${host} is not trusted (${code}); set the option "ca" to the certificate to trust`;
  }
  return `${host} cannot be reached: ${message}`;
}

/** Converts an error of the broker or the library about a request, such as a publish or a subscription. */
export function requestError(error: Error, request: string): MantelError {
  const { code } = error as { code?: unknown };
  if (typeof code !== "number" || code < 128) {
    return new MantelError("broker_down", `the broker did not accept ${request}: ${error.message}`);
  }
  const reason = ReasonCodes[code as keyof typeof ReasonCodes] ?? "no reason given";
  return new MantelError(
    "broker_refused",
    `the broker refused ${request}: ${reason.toLowerCase()} (${code})`,
  );
}
