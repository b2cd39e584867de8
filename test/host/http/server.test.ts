import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { test } from "node:test";
import Koa from "koa";
import type { RequestState } from "../../../host/http/route.ts";
import { HttpServer } from "../../../host/http/server.ts";
import { watchResources } from "../../helpers/resources.ts";
import { until } from "../../helpers/until.ts";

test("closing answers pending requests, closes kept-alive connections and leaves nothing open", async () => {
  const assertClosed = watchResources();
  const { app, release, inFlight } = slowApp();
  const server = await HttpServer.listen({ app, host: "127.0.0.1", port: 0 });
  const idle = connect(Number(new URL(server.url).port), "127.0.0.1");
  idle.write("HEAD / HTTP/1.1\r\nHost: localhost\r\n\r\n");
  await once(idle, "data");
  const answer = fetch(server.url);
  await until(() => inFlight() === 1);

  const closed = server.close(3_600_000);
  const refused = assert.rejects(fetch(server.url));
  await until(() => idle.closed, { withinMs: 3_000 }); // Node would keep it for 5 s
  assert.equal(inFlight(), 1);
  release();

  assert.equal(await (await answer).text(), "done");
  await refused;
  await closed;
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

/** Answers HEAD at once, and other requests when they are released. */
function slowApp() {
  const app = new Koa<RequestState>();
  let count = 0;
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => (release = resolve));
  app.use(async (ctx) => {
    ctx.body = "done";
    if (ctx.method === "HEAD") return;
    count++;
    await released;
  });
  return { app, release, inFlight: () => count };
}
