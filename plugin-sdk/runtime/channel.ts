import type { Buffer } from "node:buffer";
import { Socket } from "node:net";
import { LineCutter, toLine } from "../rpc/lines.ts";
import type { Transport } from "../rpc/peer.ts";
import { parseJson } from "./primordials.ts";

/** The file descriptor of the channel to the host in a plugin's process. */
const CHANNEL = 3;

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
    send: (message, written) => void socket.write(toLine(message), () => written?.()),
    onMessage: (receive) =>
      void socket.on("data", (chunk: Buffer) => {
        for (const { bytes } of lines.cut(chunk)) receive(parseJson(bytes.toString()));
      }),
  };
}
