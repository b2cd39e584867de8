import assert from "node:assert/strict";
import { connect } from "node:net";
import { test } from "node:test";
import Koa from "koa";
import type { RequestState } from "../../../host/http/route.ts";
import { HttpServer } from "../../../host/http/server.ts";
import { watchResources } from "../../helpers/resources.ts";
import { LOAD, until } from "../../helpers/until.ts";

test("closing answers pending requests, closes kept-alive connections and leaves nothing open", async () => {
  const assertClosed = watchResources();
  const { app, release, inFlight } = slowApp();
  const server = await HttpServer.listen({ app, host: "127.0.0.1", port: 0 });
  const answer = fetch(server.url);
  await until(() => inFlight() === 1);

  const closed = server.close(10_000);
  const refused = fetch(server.url);
  release();

  assert.equal(await (await answer).text(), "done");
  await assert.rejects(refused);
  const startedAt = performance.now();
  await closed;
  assert.ok(
    performance.now() - startedAt < 4_000 * LOAD,
    "it does not wait for idle clients to go",
  );
  await assertClosed();
});

test("requests without an answer at the deadline are cut off", async () => {
  const { app, inFlight } = slowApp();
  const server = await HttpServer.listen({ app, host: "127.0.0.1", port: 0 });
  const answer = assert.rejects(fetch(server.url));
  await until(() => inFlight() === 1);

  await server.close(50);

  await answer;
});

test("a port in use is reported in a sentence with a fix", async (t) => {
  const { app } = slowApp();
  const server = await HttpServer.listen({ app, host: "127.0.0.1", port: 0 });
  t.after(() => server.close(0));
  const port = Number(new URL(server.url).port);

  await assert.rejects(HttpServer.listen({ app, host: "127.0.0.1", port }), {
    message: `port ${port} on 127.0.0.1 is in use; stop the program that listens there, or choose another --port`,
  });
});

test("an address that the machine does not have is reported in a sentence", async () => {
  const { app } = slowApp();

  await assert.rejects(HttpServer.listen({ app, host: "192.0.2.1", port: 0 }), {
    message: "this machine has no address 192.0.2.1; see --host",
  });
});

test("the url of an IPv6 address has brackets", async (t) => {
  const server = await HttpServer.listen({ app: slowApp().app, host: "::1", port: 0 });
  t.after(() => server.close(0));

  assert.match(server.url, /^http:\/\/\[::1\]:\d+$/);
});

test("endless headers are cut off", { timeout: 20_000 }, async (t) => {
  const server = await HttpServer.listen({ app: slowApp().app, host: "127.0.0.1", port: 0 });
  t.after(() => server.close(0));
  const socket = connect(Number(new URL(server.url).port), "127.0.0.1");
  socket.write("GET / HTTP/1.1\r\nHost: localhost\r\n");
  let text = "";

  for await (const bytes of socket) text += String(bytes);

  assert.match(text, /^HTTP\/1\.1 408 /);
});

function slowApp() {
  const app = new Koa<RequestState>();
  let count = 0;
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => (release = resolve));
  app.use(async (ctx) => {
    count++;
    await released;
    ctx.body = "done";
  });
  return { app, release, inFlight: () => count };
}
