import { readSync } from "node:fs";
import type { Duplex } from "node:stream";
import { LONGEST_MESSAGE, type Line, toLine } from "@mantel/plugin-sdk/lines";
import type { Transport } from "@mantel/plugin-sdk/rpc";
import { type Bounds, Intake } from "./intake.ts";

/** What a plugin may tell its host: beyond this it is no plugin of a house but a load on it. */
const BOUNDS: Bounds = {
  longest: LONGEST_MESSAGE,
  linesPerSecond: 2_000,
  bytesPerSecond: 16 * 2 ** 20,
};

const TOO_LONG = `it sent a message of more than ${LONGEST_MESSAGE / 2 ** 20} MiB, which was not read`;
/** The cause of a process's end that sent too much. */
export const FLOOD =
  `it flooded the host: more than ${BOUNDS.linesPerSecond} messages or ` +
  `${BOUNDS.bytesPerSecond / 2 ** 20} MiB a second; publish less often, and only what has changed`;

/** A call is answered by word of its beginning, and of its end. */
const LINES_OF_A_CALL = 2;
const CHUNK = 65_536;
/** More than the system holds of one channel; a process that goes on sending is not waited for. */
const LAST_CHUNKS = 16;
/** Bytes that the answer of a call may have without being counted. */
const USUAL_ANSWER = 65_536;

/** The host's end of a process's channel. */
export interface Channel extends Transport {
  /** True while the process sends more than the host reads. */
  readonly isHeldBack: boolean;
  /** Reads what the process left when it ended. */
  finish(): void;
}

/**
 * Opens a channel of JSON messages, one a line. What comes is read no faster than the host can bear.
 * `end` is called with a cause for people, and with when it began, when the process must be ended.
 */
export function openChannel(stream: Duplex, end: (cause: string, since?: number) => void): Channel {
  let receive: (message: unknown) => void = () => undefined;
  const intake = new Intake(stream, BOUNDS, {
    onLine({ bytes, isWhole }: Line) {
      if (!isWhole) return bytes.length < LONGEST_MESSAGE ? undefined : end(TOO_LONG);
      try {
        receive(JSON.parse(bytes.toString()));
      } catch {
        end("it wrote something into the host's channel that is no message");
      }
    },
    onFlood: (since) => end(FLOOD, since),
  });
  return {
    send(message, written) {
      const line = toLine(message);
      // An answer to the plugin asks for nothing back: otherwise each of its calls would pay for two.
      const lines = message.kind === "call" && message.call !== undefined ? LINES_OF_A_CALL : 0;
      for (let left = lines; left > 0; left--) intake.expectLine(USUAL_ANSWER);
      if (!stream.writable) return;
      stream.write(line, (error) => {
        if (error) hearTheRest(stream);
        written?.();
      });
    },
    onMessage: (listener) => void (receive = listener),
    finish: () => intake.finish(),
    get isHeldBack() {
      return intake.isHeldBack;
    },
  };
}

/**
 * Reads what a process has said before it went. A write to it fails then, upon which Node throws away all that
 * is not read yet; with the word that a call has begun lost, the next process would carry it out once more.
 */
function hearTheRest(stream: Duplex): void {
  const { fd } = (Reflect.get(stream, "_handle") ?? {}) as { fd?: number };
  if (fd === undefined) return;
  stream.read(); // what lies in its buffer came before
  for (let left = LAST_CHUNKS; left > 0; left--) {
    const chunk = readChunk(fd);
    if (chunk.length === 0) return;
    stream.emit("data", chunk);
  }
}

/** Nothing at the end, and when nothing more is there. */
function readChunk(fd: number): Buffer {
  const chunk = Buffer.alloc(CHUNK);
  try {
    return chunk.subarray(0, readSync(fd, chunk));
  } catch {
    return Buffer.alloc(0); // EAGAIN: it is still there; ECONNRESET: it had not read all either
  }
}
