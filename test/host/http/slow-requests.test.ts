import assert from "node:assert/strict";
import { connect } from "node:net";
import { test } from "node:test";
import Koa from "koa";
import type { RequestState } from "../../../host/http/route.ts";
import { BOUNDS, HttpServer } from "../../../host/http/server.ts";
import { LOAD } from "../../helpers/until.ts";
import { assertProblem } from "./assert-problem.ts";

const DRIP_EVERY_MS = 20;
const SHORT = {
  headersTimeout: Math.round(400 * LOAD),
  requestTimeout: Math.round(1_200 * LOAD),
  connectionsCheckingInterval: 50,
};

test("a client has ten seconds for its headers, and twenty for a whole request", () => {
  assert.deepEqual([BOUNDS.headersTimeout, BOUNDS.requestTimeout], [10_000, 20_000]);
});

test("a slow client is cut off at the deadline of its headers, or of its body", async (t) => {
  const app = new Koa<RequestState>();
  app.silent = true;
  app.use(async (context) => {
    for await (const chunk of context.req) void chunk;
    context.body = "read";
  });
  const bounds = { ...BOUNDS, ...SHORT };
  const server = await HttpServer.listen({ app, host: "127.0.0.1", port: 0, bounds });
  t.after(() => server.close(0));

  const [head, body] = await Promise.all([
    drip(server.url, "GET / HTTP/1.1\r\nhost: localhost\r\nx-slow: "),
    drip(server.url, "POST / HTTP/1.1\r\nhost: localhost\r\ncontent-length: 100000\r\n\r\n"),
  ]);

  assertProblem(head.answer, 408, "request_timeout");
  assert.ok(head.lastedMs >= SHORT.headersTimeout, `${head.lastedMs} ms`);
  assertProblem(body.answer, 408, "request_timeout");
  assert.ok(body.lastedMs >= SHORT.requestTimeout, `${body.lastedMs} ms`);
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
