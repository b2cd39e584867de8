import type { Buffer } from "node:buffer";
import { Socket } from "node:net";
import { LineCutter, toLine } from "../rpc/lines.ts";
import type { Transport } from "../rpc/peer.ts";

/** The descriptor at which a plugin's process finds its channel to the host. */
const CHANNEL = 3;

/**
 * The process's end of its channel: one JSON message a line. It is a pipe and not Node's own channel,
 * because the host must be able to read it no faster than it can bear.
 */
export function openChannel(onEnd: () => void): Transport {
  const socket = new Socket({ fd: CHANNEL, readable: true, writable: true });
  const lines = new LineCutter(Number.POSITIVE_INFINITY); // the host is trusted
  socket.on("error", () => undefined); // its end is heard by "close"
  socket.on("close", onEnd);
  return {
    send: (message, written) => void socket.write(toLine(message), () => written?.()),
    onMessage: (receive) =>
      void socket.on("data", (chunk: Buffer) => {
        for (const { bytes } of lines.cut(chunk)) receive(JSON.parse(bytes.toString()));
      }),
  };
}
