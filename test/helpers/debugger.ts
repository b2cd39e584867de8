import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { get, type IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import type { TestContext } from "node:test";

/** A debugger that is attached to a process, as an editor would be. */
export interface Debugger {
  /** Sends a command of the inspector protocol, without waiting for what it answers. */
  send(method: string, params?: object): void;
  /** All that has come, as JSON. */
  received(): string;
  detach(): void;
}

/** Attaches to the process at a port of loopback, with text frames of a web socket (RFC 6455, 5). */
export async function attachDebugger(t: TestContext, port: number): Promise<Debugger> {
  const list = await fetch(`http://127.0.0.1:${port}/json/list`);
  const [target] = (await list.json()) as { webSocketDebuggerUrl: string }[];
  const request = get((target?.webSocketDebuggerUrl ?? "").replace("ws:", "http:"), {
    headers: {
      connection: "Upgrade",
      upgrade: "websocket",
      "sec-websocket-version": "13",
      "sec-websocket-key": randomBytes(16).toString("base64"),
    },
  });
  const [, socket] = (await once(request, "upgrade")) as [IncomingMessage, Socket];
  let text = "";
  socket.on("data", (bytes: Buffer) => (text += bytes.toString("latin1")));
  socket.on("error", () => undefined); // the process may end first
  t.after(() => socket.destroy());
  let id = 0;
  return {
    send: (method, params = {}) => void socket.write(frame({ id: ++id, method, params })),
    received: () => text,
    detach: () => socket.destroy(),
  };
}

/** A final text frame, masked with zeros; the payload is shorter than 64 KiB. */
function frame(message: object): Buffer {
  const payload = Buffer.from(JSON.stringify(message));
  const head = Buffer.from([0x81, 0xfe, payload.length >> 8, payload.length & 0xff, 0, 0, 0, 0]);
  return Buffer.concat([head, payload]);
}
