import { readSync } from "node:fs";
import type { Duplex } from "node:stream";
import { CHANNEL_LIMITS } from "@mantel/plugin-sdk/channel";
import { LONGEST_MESSAGE, type Line, toLine } from "@mantel/plugin-sdk/lines";
import type { HostApi, NetworkApi } from "@mantel/plugin-sdk/protocol";
import type { Transport } from "@mantel/plugin-sdk/rpc";
import { parseInSlices, UnparsableMessage } from "./json-slices.ts";
import { type Bounds, ThrottledReader, type LineWork } from "./throttled-reader.ts";

/** The message rate limit of a plugin. */
const BOUNDS: Bounds = {
  longest: LONGEST_MESSAGE,
  linesPerSecond: 2_000,
  bytesPerSecond: 16 * 2 ** 20,
};

const TOO_LONG = `it sent a message larger than ${LONGEST_MESSAGE / 2 ** 20} MiB, which was not read`;
const NO_MESSAGE = "it wrote an invalid message to the host's channel";
/** The exit cause of a process that exceeded the message rate limit. */
export const FLOOD_MESSAGE =
  `message rate limit exceeded: more than ${BOUNDS.linesPerSecond} messages or ` +
  `${BOUNDS.bytesPerSecond / 2 ** 20} MiB per second; publish less often, and only what has changed`;

/** The largest input of a call, for calls whose input the host processes itself. */
interface Bulk {
  readonly bytes: number;
  readonly values: number;
}
/** The runtime of the SDK never sends more than this. */
const FEW: Bulk = { bytes: 65_536, values: 2_000 };
const LONGEST_CALLS: Readonly<Record<keyof (HostApi & NetworkApi), Bulk>> = {
  publishDevices: { bytes: LONGEST_MESSAGE, values: 1_000_000 }, // checked in slices
  updateDevices: { bytes: 2 * 2 ** 20, values: 25_000 },
  announceDeviceEvent: FEW,
  publishScenes: { bytes: LONGEST_MESSAGE, values: 100_000 },
  publish: { bytes: 2 * 2 ** 20, values: 50_000 },
  publishCalendarPart: { bytes: LONGEST_MESSAGE, values: 50_000 },
  // The value is a text in the message; a quotation mark in it takes two bytes more at most.
  publishChannel: { bytes: 3 * CHANNEL_LIMITS.mostBytes, values: 100 },
  followChannel: FEW,
  followSources: FEW,
  describeSources: { bytes: LONGEST_MESSAGE, values: 100 },
  callService: { bytes: LONGEST_MESSAGE, values: 50_000 },
  routeUrl: FEW,
  reportDegraded: FEW,
  showStep: { bytes: 2 ** 18, values: 20_000 },
  log: FEW,
  setSchedule: FEW,
  cancelSchedule: FEW,
  resumeSchedules: { bytes: 2 ** 18, values: 20_000 },
  listHomeDevices: FEW,
  getHomeDevice: FEW,
  followHome: FEW,
  unfollowHome: FEW,
  suspendHome: { bytes: 2 * 2 ** 20, values: 200_000 },
  commandHome: FEW,
  activateHomeScene: FEW,
  listHomeScenes: FEW,
  listHomeRooms: FEW,
  getSun: FEW,
  getCoordinates: FEW,
  listHomeEvents: FEW,
  discoverMdns: FEW,
  discoverSsdp: FEW,
  lookUp: FEW,
  openConnection: FEW,
  closeConnection: FEW,
};

/** The reason why a message is too large for its kind; it is within the limits for all messages. */
function excessOf(message: unknown, { bytes, values }: Bulk): string | undefined {
  const { kind, method } = (message ?? {}) as { kind?: unknown; method?: unknown };
  if (kind !== "call") return undefined;
  const isKnown = typeof method === "string" && Object.hasOwn(LONGEST_CALLS, method);
  const most = isKnown ? LONGEST_CALLS[method as keyof typeof LONGEST_CALLS] : FEW;
  if (bytes <= most.bytes && values <= most.values) return undefined;
  const name = isKnown ? method : "a call that does not exist";
  const limits = `the limits are ${most.bytes} bytes and ${most.values} values; send less at once`;
  return `it sent ${bytes} bytes with ${values} values in ${name}: ${limits}`;
}

/** True for a failure without an error, which the SDK's runtime never sends. */
function isForgedFailure(message: unknown): boolean {
  const { kind, error } = (message ?? {}) as { kind?: unknown; error?: unknown };
  return kind === "failure" && (typeof error !== "object" || error === null);
}

/** Each call to a plugin is answered by two messages: one at its start, one at its end. */
const LINES_OF_A_CALL = 2;
const CHUNK = 65_536;
/** More than the system buffers in one channel, so that reading ends even if the process continues to send. */
const LAST_CHUNKS = 16;
/** Bytes of a call's answer that do not count towards the limit. */
const USUAL_ANSWER = 65_536;

/** The host's end of a process's channel. */
export interface Channel extends Transport {
  /** True while the process sends more than the host reads. */
  readonly isHeldBack: boolean;
  /** True while messages wait for the host to read them. */
  readonly hasUnread: boolean;
  /** Reads what the process wrote before it ended. @see ThrottledReader.finish */
  finish(): Promise<void>;
}

export interface ChannelOwner {
  /** Called when the process must be killed, with a user-facing cause and the time when the fault began. */
  readonly end: (cause: string, since?: number) => void;
  /** True while so many messages are worked on that further ones wait in the process. */
  readonly isBusy?: () => boolean;
}

/** Opens a channel of JSON messages, one per line. Reading is throttled to the message rate limit. */
export function openChannel(stream: Duplex, { end, isBusy }: ChannelOwner): Channel {
  let receive: (message: unknown) => void = () => undefined;
  const read = function* (bytes: Buffer): LineWork {
    try {
      const { value, values } = yield* parseInSlices(bytes);
      const excess = excessOf(value, { bytes: bytes.length, values });
      if (excess !== undefined) end(excess);
      else if (isForgedFailure(value)) end(NO_MESSAGE);
      else receive(value);
    } catch (error) {
      end(error instanceof UnparsableMessage ? error.message : NO_MESSAGE);
    }
  };
  const reader = new ThrottledReader(stream, BOUNDS, {
    onLine({ bytes, isWhole }: Line) {
      if (isWhole) return read(bytes);
      if (bytes.length >= LONGEST_MESSAGE) end(TOO_LONG);
    },
    onFlood: (since) => end(FLOOD_MESSAGE, since),
    ...(isBusy && { isBusy }),
  });
  return {
    send(message, written) {
      const line = toLine(message);
      // An answer to the plugin causes no further messages: otherwise each of its calls would count twice.
      const lines = message.kind === "call" && message.call !== undefined ? LINES_OF_A_CALL : 0;
      for (let left = lines; left > 0; left--) reader.expectLine(USUAL_ANSWER);
      if (!stream.writable) return;
      if (stream.writableCorked === 0) {
        stream.cork(); // messages of one turn go out together
        process.nextTick(() => stream.uncork());
      }
      stream.write(line, (error) => {
        if (error) readRemaining(stream);
        written?.();
      });
    },
    onMessage: (listener) => void (receive = listener),
    finish: () => reader.finish(),
    get isHeldBack() {
      return reader.isHeldBack;
    },
    get hasUnread() {
      return reader.hasUnread;
    },
  };
}

/**
 * Reads what a process wrote before it ended. Writes to it then fail, and Node would discard all unread
 * data; without the message that a call began, the next process would carry out that call again.
 */
function readRemaining(stream: Duplex): void {
  const { fd } = (Reflect.get(stream, "_handle") ?? {}) as { fd?: number };
  if (fd === undefined) return;
  stream.read(); // first what is in the stream's buffer, which is older
  for (let left = LAST_CHUNKS; left > 0; left--) {
    const chunk = readChunk(fd);
    if (chunk.length === 0) return;
    stream.emit("data", chunk);
  }
}

/** Empty at the end, and when there is nothing more to read. */
function readChunk(fd: number): Buffer {
  const chunk = Buffer.alloc(CHUNK);
  try {
    return chunk.subarray(0, readSync(fd, chunk));
  } catch {
    return Buffer.alloc(0); // EAGAIN: the other end is still open; ECONNRESET: the other end had unread data
  }
}
