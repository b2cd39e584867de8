import assert from "node:assert/strict";
import { connect } from "node:net";
import { test } from "node:test";
import { LOAD } from "../../helpers/until.ts";
import { type ServedApp, serveApp } from "./serve-app.ts";

/** Heads and bodies that two servers in a row could take apart in two ways (RFC 9112, 11.2). */
const SMUGGLING: Readonly<Record<string, string>> = {
  "two lengths": "Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}x",
  "length and chunks": "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
  "chunks twice": "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n",
  "chunks misspelled": "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
  "space before the colon": "Content-Length : 2\r\n\r\n{}",
  "folded header": "X: a\r\n Content-Length: 2\r\n\r\n{}",
  "bare line feed": "X: a\nContent-Length: 2\r\n\r\n{}",
  "carriage return in a value": "X: a\rb\r\n\r\n",
  "length with a sign": "Content-Length: +2\r\n\r\n{}",
  "length in hex": "Content-Length: 0x2\r\n\r\n{}",
  "negative length": "Content-Length: -1\r\n\r\n",
  "a chunk that is too long": "Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n{}",
  "a chunk with a wrong end": "Transfer-Encoding: chunked\r\n\r\n2\r\n{}x\r\n0\r\n\r\n",
};
for (const [name, rest] of Object.entries(SMUGGLING)) {
  test(`${name}: 400, and the following bytes are not read as a request`, async (t) => {
    const app = await serveApp(t);
    const authorization = `Authorization: Bearer ${await app.token("admin")}`;
    const head = `PATCH /api/v1/config HTTP/1.1\r\nHost: localhost\r\n${authorization}\r\n`;

    const answers = await exchange(
      app,
      `${head}Content-Type: application/json\r\n${rest}GET /api HTTP/1.1\r\nHost: localhost\r\n\r\n`,
    );

    assert.match(answers, /^HTTP\/1\.1 400 /);
    assert.equal(answers.split("HTTP/1.1 ").length, 2, answers);
    assert.deepEqual(await changesOf(app), []);
  });
}

/** Whole requests, and how their answers begin. */
const REQUESTS: Readonly<Record<string, readonly [request: string, answer: RegExp]>> = {
  TRACE: [
    "TRACE /api/v1/config HTTP/1.1\r\nHost: localhost\r\nCookie: canary\r\n\r\n",
    /^HTTP\/1\.1 401 (?![\s\S]*canary)/,
  ],
  "a tunnel": ["CONNECT 127.0.0.1:22 HTTP/1.1\r\nHost: localhost\r\n\r\n", /^$/],
  "an upgrade": [
    "GET /api HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
    /^HTTP\/1\.1 200 /,
  ],
  "an upgrade to HTTP/2": ["PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", /^HTTP\/1\.1 400 /],
  "HTTP/1.0": ["GET /api HTTP/1.0\r\nHost: localhost\r\n\r\n", /^HTTP\/1\.1 200 /],
  "HTTP/0.9": ["GET /api\r\n\r\n", /^HTTP\/1\.1 421 /],
  "a version of tomorrow": [
    "GET /api HTTP/9.9\r\nHost: localhost\r\n\r\n",
    /^HTTP\/1\.1 (400|505) /,
  ],
  "a preflight": [
    "OPTIONS /api/v1/config HTTP/1.1\r\nHost: localhost\r\nOrigin: http://evil.example\r\nAccess-Control-Request-Method: PATCH\r\n\r\n",
    /^HTTP\/1\.1 401 (?![\s\S]*Access-Control)/i,
  ],
  "an overridden method": [
    "GET /api/v1/config HTTP/1.1\r\nHost: localhost\r\nX-HTTP-Method-Override: DELETE\r\n\r\n",
    /^HTTP\/1\.1 401 /,
  ],
  "a rewritten address": [
    "GET /api HTTP/1.1\r\nHost: localhost\r\nX-Original-URL: /api/v1/config\r\nX-Rewrite-URL: /api/v1/config\r\n\r\n",
    /^HTTP\/1\.1 200 [\s\S]+"versions"/,
  ],
  "a proxy that is none": [
    "GET /api HTTP/1.1\r\nHost: evil.example\r\nX-Forwarded-Host: localhost\r\nForwarded: host=localhost\r\n\r\n",
    /^HTTP\/1\.1 421 /,
  ],
  "a thousand headers": [
    `GET /api HTTP/1.1\r\nHost: localhost\r\n${"name: value\r\n".repeat(3_000)}\r\n`,
    /^HTTP\/1\.1 431 /,
  ],
  "a long target": [
    `GET /${"a".repeat(17_000)} HTTP/1.1\r\nHost: localhost\r\n\r\n`,
    /^HTTP\/1\.1 431 /,
  ],
  "a handshake of TLS": ["\u0016\u0003\u0001\u0002\u0000\u0001", /^HTTP\/1\.1 400 /],
};
for (const [name, [request, answer]] of Object.entries(REQUESTS)) {
  test(`${name} gets nothing it should not have`, async (t) => {
    const app = await serveApp(t);

    assert.match(await exchange(app, request), answer);
    assert.equal((await fetch(`${app.url}/api`)).status, 200);
  });
}

test("malicious bodies are refused and change nothing", async (t) => {
  const app = await serveApp(t);
  const bodies = {
    "a prototype": '{"__proto__":{"admin":true}}',
    "a prototype further in": '{"ui":{"__proto__":{"theme":"dark"}}}',
    "an escaped prototype": '{"\\u005f_proto__":{"a":1}}',
    "a constructor": '{"constructor":{"prototype":{"admin":true}}}',
    "a key of every object": '{"toString":{"a":1},"hasOwnProperty":{"a":1}}',
    "brackets without end": "[".repeat(60_000),
    "objects without end": '{"a":'.repeat(12_000),
    "a number without end": `{"ui":{"idleSeconds":${"9".repeat(60_000)}}}`,
    "a small exponent": '{"ui":{"idleSeconds":1e-400}}',
    "half a pair": '{"ui":{"locale":"\\ud800"}}',
    "an array of sections": '[{"ui":{"theme":"dark"}}]',
    "text behind": '{"ui":{"theme":"dark"}}{"x":1}',
    "a byte-order mark": '\ufeff{"ui":{"theme":"dark"}}',
  };
  const before = app.config.revision;

  const statuses = await Promise.all(
    Object.entries(bodies).map(async ([name, body]) => {
      const headers = { "content-type": "application/json" };
      const { status } = await app.api("admin", "/config", { method: "PATCH", headers, body });
      return [name, status] as const;
    }),
  );

  const taken = statuses.filter(([, status]) => status !== 400 && status !== 422);
  assert.deepEqual(taken, [["a small exponent", 200]], "1e-400 is a way to write 0");
  assert.ok(app.config.revision <= before + 1);
  assert.equal(({} as { admin?: unknown }).admin, undefined);
});

test("the answer to a wrong token does not reveal which part was right", async (t) => {
  const { url, token } = await serveApp(t);
  const good = await token("admin");
  const wrong = `${good.slice(0, -20)}${"A".repeat(20)}`;
  const early = `${good.slice(0, -43)}${"A".repeat(43)}`;

  const details = await Promise.all(
    [wrong, early].map(async (each) => {
      const headers = { authorization: `Bearer ${each}` };
      const answer = await fetch(`${url}/api/v1/config`, { headers });
      const { detail } = (await answer.json()) as { detail: string };
      return [answer.status, detail];
    }),
  );

  assert.deepEqual(details[0], details[1]);
  assert.equal(details[0]?.[0], 401);
});

async function changesOf({ api }: ServedApp): Promise<unknown[]> {
  const { records } = (await (await api("admin", "/audit")).json()) as { records: unknown[] };
  return records;
}

/** Sends a text as it stands, and gives all that comes back until the connection ends or rests. */
async function exchange({ url }: ServedApp, text: string): Promise<string> {
  const socket = connect(Number(new URL(url).port), "127.0.0.1");
  socket.setTimeout(500 * LOAD, () => socket.destroy());
  socket.on("error", () => undefined);
  socket.write(text, "latin1");
  let answers = "";
  socket.on("data", (bytes) => (answers += String(bytes)));
  await new Promise((resolve) => socket.once("close", resolve));
  return answers;
}
