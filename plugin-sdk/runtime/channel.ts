import { Buffer } from "node:buffer";
import { Socket } from "node:net";
import { isLongList, LineCutter, listToLine, toLine } from "../rpc/lines.ts";
import type { Transport } from "../rpc/peer.ts";
import { parseJson } from "./primordials.ts";

/** The file descriptor of the channel to the host in a plugin's process. */
const CHANNEL = 3;
/** After this time of encoding other work of the process has its turn. */
const SLICE_MS = 5;

/**
 * Opens the process's end of the channel: one JSON message per line. The channel is a pipe and not Node's IPC,
 * because the host must be able to apply backpressure.
 */
export function openChannel(onEnd: () => void): Transport {
  const socket = new Socket({ fd: CHANNEL, readable: true, writable: true });
  const lines = new LineCutter(Number.POSITIVE_INFINITY); // the host is trusted
  socket.on("error", () => undefined); // "close" follows and is handled
  socket.on("close", onEnd);
  return {
    send: inOrder((line, written) => void socket.write(line, () => written?.())),
    onMessage: (receive) =>
      void socket.on("data", (chunk: Buffer) => {
        for (const { bytes } of lines.cut(chunk)) receive(parseJson(bytes.toString()));
      }),
  };
}

type Send = Transport["send"];
type Encoded = string | Buffer;

/** A message that is not written yet, and of a long list the rest of its encoding. */
interface Outgoing {
  readonly line: Encoded | Generator<undefined, Buffer>;
  readonly written: (() => void) | undefined;
  readonly failed: ((error: Error) => void) | undefined;
}

/**
 * Encodes messages and writes their lines in order. A long list is encoded over several turns of the event loop, so
 * that a bridge with thousands of devices answers meanwhile; later messages wait for it.
 */
export function inOrder(write: (line: Encoded, written?: () => void) => void): Send {
  const outgoing: Outgoing[] = [];
  let isEncoding = false;
  const writeOn = (): void => {
    const endsAt = performance.now() + SLICE_MS;
    for (let next = outgoing[0]; next; next = outgoing[0]) {
      try {
        const line = encodedBy(endsAt, next.line);
        isEncoding = line === undefined;
        if (line === undefined) return void setImmediate(writeOn);
        write(line, next.written);
      } catch (error) {
        isEncoding = false;
        next.failed?.(error as Error);
      }
      outgoing.shift();
    }
  };
  return (message, written, failed) => {
    const line = isLongList(message) ? listToLine(message) : toLine(message);
    outgoing.push({ line, written, failed });
    if (!isEncoding) writeOn();
  };
}

/** The line; `undefined` if it is not whole at that time. */
function encodedBy(endsAt: number, line: Outgoing["line"]): Encoded | undefined {
  if (typeof line === "string" || Buffer.isBuffer(line)) return line;
  do {
    const step = line.next();
    if (step.done === true) return step.value;
  } while (performance.now() < endsAt);
  return undefined;
}
