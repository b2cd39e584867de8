import assert from "node:assert/strict";
import { connect } from "node:net";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { json, type ServedApp, serveApp } from "./serve-app.ts";

const COMMAND = "/smart-home/devices/demo:light:1/command";

interface Attempt {
  readonly body: string | Buffer;
  readonly headers?: Record<string, string>;
}

const REFUSED: Record<string, [Attempt, status: number, code: string]> = {
  "malformed JSON": [{ body: '{"on": tru' }, 400, "bad_request"],
  "two documents": [{ body: "{} {}" }, 400, "bad_request"],
  "bytes that are not UTF-8": [
    { body: Buffer.from('{"on": "\xe9"}', "latin1") },
    400,
    "bad_request",
  ],
  "a depth bomb": [{ body: `${"[".repeat(30_000)}${"]".repeat(30_000)}` }, 400, "bad_request"],
  "an open depth bomb": [{ body: '{"a":'.repeat(10_000) }, 400, "bad_request"],
  "thirty-three levels": [{ body: `${"[".repeat(33)}${"]".repeat(33)}` }, 400, "bad_request"],
  "a prototype": [{ body: '{"__proto__": {"on": true}}' }, 400, "bad_request"],
  "an escaped prototype": [{ body: '{"\\u005f_proto__": {"on": true}}' }, 400, "bad_request"],
  "half a character": [{ body: '{"effect": "\\ud800"}' }, 400, "bad_request"],
  "the other half": [{ body: '{"effect": "\\ude00\\ud83d"}' }, 400, "bad_request"],
  "half a character in a key": [{ body: '{"\\uDbFf": 1}' }, 400, "bad_request"],
  "a form": [
    { body: "on=true", headers: { "content-type": "application/x-www-form-urlencoded" } },
    415,
    "unsupported_media_type",
  ],
  "a form that says it is text": [
    { body: '{"on":true}', headers: { "content-type": "text/plain" } },
    415,
    "unsupported_media_type",
  ],
  "no content type": [
    { body: Buffer.from('{"on":true}'), headers: { "content-type": "" } },
    415,
    "unsupported_media_type",
  ],
  "another charset": [
    { body: '{"on":true}', headers: { "content-type": "application/json; charset=latin1" } },
    415,
    "unsupported_media_type",
  ],
  "a compressed body": [
    { body: gzipSync('{"on":true}'), headers: { "content-encoding": "gzip" } },
    415,
    "unsupported_media_type",
  ],
  "more than 64 KiB": [{ body: `"${"x".repeat(65_536)}"` }, 413, "body_too_large"],
  "much more than 64 KiB": [{ body: `"${"x".repeat(3_000_000)}"` }, 413, "body_too_large"],
  "no body": [{ body: "" }, 422, "invalid"],
  "an empty object": [{ body: "{}" }, 422, "invalid"],
  "an array": [{ body: "[]" }, 422, "invalid"],
  "a bare value": [{ body: "5" }, 422, "invalid"],
};

for (const [name, [attempt, status, code]] of Object.entries(REFUSED)) {
  test(`${name} is refused with ${status} and changes nothing`, async (t) => {
    const app = await serveApp(t);

    const response = await post(app, attempt);

    const problem = (await response.json()) as { code: string };
    assert.deepEqual([response.status, problem.code], [status, code]);
    assert.deepEqual(app.commands, []);
  });
}

for (const [name, attempt] of Object.entries<Attempt>({
  "thirty-two levels": { body: `{"on":${"[".repeat(31)}${"]".repeat(31)}}` },
  "brackets in a text": { body: JSON.stringify({ on: `\\"${"[".repeat(100)}` }) },
})) {
  test(`${name} are not too deep`, async (t) => {
    const response = await post(await serveApp(t), attempt);

    assert.equal(response.status, 422, "it is parsed, and only then found wrong");
  });
}

test("the charset UTF-8 is accepted, and a merge patch has its own type", async (t) => {
  const app = await serveApp(t);
  const command = {
    body: '{"on":true}',
    headers: { "content-type": "application/json;charset=UTF-8" },
  };
  const patch = json(
    "PATCH",
    { ui: { theme: "dark" } },
    { "content-type": "application/merge-patch+json" },
  );

  const statuses = [
    (await post(app, command)).status,
    (await app.api("edit", "/config", patch)).status,
    (await app.api("control", COMMAND, { ...patch, method: "POST" })).status,
  ];

  assert.deepEqual(statuses, [200, 200, 415]);
});

test("a chunked body that is too large is cut off, and the connection is closed", async (t) => {
  const { url, token } = await serveApp(t);
  const socket = connect(Number(new URL(url).port), "127.0.0.1");
  const answer = readAll(socket);
  const chunk = `10000\r\n${"x".repeat(65_536)}\r\n`;

  socket.write(
    `POST /api/v1${COMMAND} HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n` +
      `Content-Type: application/json\r\nAuthorization: Bearer ${await token("control")}\r\n\r\n${chunk}${chunk}`,
  );

  assert.match(await answer, /^HTTP\/1\.1 413 [\s\S]*connection: close/i);
});

test("a refused body is not read as the next request", async (t) => {
  const { url, token } = await serveApp(t);
  const socket = connect(Number(new URL(url).port), "127.0.0.1");
  const answer = readAll(socket);
  const inner = "GET /api HTTP/1.1\r\nHost: localhost\r\n\r\n";

  socket.write(
    `POST /api/v1${COMMAND} HTTP/1.1\r\nHost: localhost\r\nContent-Encoding: gzip\r\n` +
      `Content-Length: ${inner.length}\r\nContent-Type: application/json\r\n` +
      `Authorization: Bearer ${await token("control")}\r\n\r\n${inner}`,
  );

  assert.deepEqual((await answer).match(/HTTP\/1\.1 \d+/g), ["HTTP/1.1 415"]);
});

function post(app: ServedApp, { body, headers }: Attempt): Promise<Response> {
  return app.api("control", COMMAND, {
    method: "POST",
    body,
    headers: { "content-type": "application/json", ...headers },
  });
}

async function readAll(socket: NodeJS.ReadableStream): Promise<string> {
  let text = "";
  for await (const bytes of socket) text += String(bytes);
  return text;
}

test("a lone surrogate is refused with its location, and a complete character is accepted", async (t) => {
  const app = await serveApp(t);
  const send = (name: string) => {
    const body = `{"name": "${name}", "actions": [{"name": "${name}"}]}`;
    return app.api("edit", "/smart-home/scenes/host:scene:movie", { ...json("PUT", {}), body });
  };

  const halved = await send("\\ud83d");
  const whole = await send("\\ud83d\\ude00");

  const { errors } = (await halved.json()) as { errors: object[] };
  assert.equal(halved.status, 400);
  assert.deepEqual(errors, [
    {
      pointer: "/name",
      detail: "is a text with half a character (a lone surrogate, U+D800 to U+DFFF)",
    },
  ]);
  assert.notEqual(whole.status, 400);
});
