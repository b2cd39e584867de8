import { createSocket, type RemoteInfo, type Socket } from "node:dgram";
import { once } from "node:events";
import { isIPv6 } from "node:net";
import type { TestContext } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { onTestEnd } from "../../helpers/on-test-end.ts";
import { watchResources } from "../../helpers/resources.ts";

/** Devices on this machine that answer each question with these messages. */
export async function startResponder(
  t: TestContext,
  answers: (question: Buffer) => readonly (Buffer | string)[],
  host = "127.0.0.1",
) {
  onTestEnd(t, watchResources());
  const socket: Socket = createSocket(isIPv6(host) ? "udp6" : "udp4");
  socket.on("message", (question: Buffer, { port, address }: RemoteInfo) => {
    for (const answer of answers(question)) socket.send(answer, port, address);
  });
  socket.bind(0, host);
  await once(socket, "listening");
  onTestEnd(t, async () => void socket.close());
  return { address: host, port: socket.address().port };
}

/** A search that ends when the test says so. */
export function openSearch(what: string, target: { address: string; port: number }) {
  const ended = new AbortController();
  const asked = { what, forMs: 60_000, signal: ended.signal, targets: [target] };
  // What has arrived is read first: of two questions read at once the answers come in the next turn.
  const end = async () => {
    await turn();
    await turn();
    ended.abort();
  };
  return { asked, end };
}

/** A promise and the function that resolves it. */
export function signalled(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve = (): void => undefined;
  const promise = new Promise<void>((done) => (resolve = done));
  return { promise, resolve };
}
