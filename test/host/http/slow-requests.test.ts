import assert from "node:assert/strict";
import { connect } from "node:net";
import { test } from "node:test";
import Koa from "koa";
import type { RequestState } from "../../../host/http/route.ts";
import { HttpServer } from "../../../host/http/server.ts";
import { LOAD } from "../../helpers/until.ts";

const DRIP_EVERY_MS = 200;
/** The server looks at its connections once a second, and a busy machine is late. */
const LATE_MS = 6_000;

test("a slow client is cut off: headers after ten seconds, a body after twenty", async (t) => {
  const app = new Koa<RequestState>();
  app.use(async (context) => {
    for await (const chunk of context.req) void chunk;
    context.body = "read";
  });
  const server = await HttpServer.listen({ app, host: "127.0.0.1", port: 0 });
  t.after(() => server.close(0));

  const [head, body] = await Promise.all([
    drip(server.url, "GET / HTTP/1.1\r\nhost: localhost\r\nx-slow: "),
    drip(server.url, "POST / HTTP/1.1\r\nhost: localhost\r\ncontent-length: 100000\r\n\r\n"),
  ]);

  assert.match(head.answer, /^HTTP\/1\.1 408 /);
  assert.ok(
    head.lastedMs > 9_000 && head.lastedMs < 10_000 + LATE_MS * LOAD,
    `${head.lastedMs} ms`,
  );
  assert.match(body.answer, /^HTTP\/1\.1 408 /);
  assert.ok(
    body.lastedMs > 19_000 && body.lastedMs < 20_000 + LATE_MS * LOAD,
    `${body.lastedMs} ms`,
  );
});

/** Sends this, then one byte after the other until the server has had enough. */
function drip(url: string, beginning: string): Promise<{ answer: string; lastedMs: number }> {
  const startedAt = performance.now();
  const socket = connect({ port: Number(new URL(url).port), host: "127.0.0.1" });
  socket.setEncoding("latin1");
  socket.write(beginning);
  const dripping = setInterval(() => socket.write("a"), DRIP_EVERY_MS);
  let answer = "";
  socket.on("data", (text: string) => (answer += text));
  socket.on("error", () => undefined); // the last byte may meet a connection that is closed
  return new Promise((resolve) => {
    socket.on("close", () => {
      clearInterval(dripping);
      resolve({ answer, lastedMs: performance.now() - startedAt });
    });
  });
}
