import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { test, type TestContext } from "node:test";
import Koa from "koa";
import { ConnectionLimit } from "../../../host/http/connection-limit.ts";
import type { RequestState } from "../../../host/http/route.ts";
import { HttpServer } from "../../../host/http/server.ts";
import { collectedLog } from "../../helpers/collected-log.ts";
import { onTestEnd } from "../../helpers/on-test-end.ts";
import { until } from "../../helpers/until.ts";

const MAX = 3;

test("a client at its connection limit gets no more connections, and others do", async (t) => {
  const { open, log } = await serveLimited(t, () => false);
  const held = await Promise.all(Array.from({ length: MAX }, () => open("127.0.0.1")));

  const [more, another] = await Promise.all([open("127.0.0.1"), open("127.0.0.2")]);

  assert.deepEqual(
    [...held, more, another].map(({ isAnswered }) => isAnswered),
    [true, true, true, false, true],
  );
  assert.deepEqual(
    log.records.map(({ sentence }) => sentence),
    ["connection limit of an address reached; refusing its new connections"],
  );
  held[0]?.socket.destroy();
  assert.ok(await until(async () => (await open("127.0.0.1")).isAnswered));
});

test("a proxy may hold more connections, because it serves many clients", async (t) => {
  const { open } = await serveLimited(t, (address) => address.endsWith("127.0.0.1"));

  const opened = await Promise.all(Array.from({ length: 2 * MAX }, () => open("127.0.0.1")));

  assert.ok(opened.every(({ isAnswered }) => isAnswered));
});

async function serveLimited(t: TestContext, isExempt: (address: string) => boolean) {
  const log = collectedLog();
  const app = new Koa<RequestState>();
  app.use((ctx) => void (ctx.body = "here"));
  const limit = new ConnectionLimit(isExempt, log, MAX);
  const server = await HttpServer.listen({ app, host: "127.0.0.1", port: 0, limit });
  const sockets: Socket[] = [];
  onTestEnd(t, async () => {
    for (const socket of sockets) socket.destroy();
    await server.close(1_000);
  });
  /** Opens a connection from an address, asks on it, and keeps it. */
  const open = async (localAddress: string) => {
    const port = Number(new URL(server.url).port);
    const socket = connect({ host: "127.0.0.1", port, localAddress });
    sockets.push(socket);
    socket.on("error", () => undefined); // a reset is a refusal, too
    socket.write("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
    const isAnswered = await Promise.race([
      once(socket, "data").then(() => true),
      once(socket, "close").then(() => false),
    ]);
    return { socket, isAnswered };
  };
  return { open, log };
}
