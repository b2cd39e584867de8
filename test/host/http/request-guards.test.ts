import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { test } from "node:test";
import { assertProblem } from "./assert-problem.ts";
import { rawStatus, serveApp } from "./serve-app.ts";

test("only addresses, localhost and configured names are answered", async (t) => {
  const { url, config } = await serveApp(t);
  await config.patch({ server: { hosts: ["mantel.local"] } }, { admin: true });
  const hosts = {
    "127.0.0.1": 200,
    "127.0.0.1:8470": 200,
    "192.168.1.5": 200,
    "[::1]:8470": 200,
    localhost: 200,
    "LOCALHOST:1": 200,
    "mantel.local:8470": 200,
    "Mantel.Local": 200,
    "evil.example": 421,
    "localhost.evil.example": 421,
    "mantel.local.evil.example": 421,
    "127.0.0.1.evil.example": 421,
    "2130706433": 421,
    "127.1": 421,
    "localhost.": 421,
    "user@localhost": 421,
    "localhost:x": 421,
    "[::1": 421,
  };

  const statuses = await Promise.all(
    Object.keys(hosts).map(async (host) => [host, await rawStatus(url, "/api", { host })] as const),
  );

  assert.deepEqual(Object.fromEntries(statuses), hosts);
});

test("the Host header is checked first", async (t) => {
  const { url } = await serveApp(t);
  const headers = { host: "evil.example" };

  const statuses = await Promise.all(
    ["/", "/api/v1/config", "/nothing", "/assets/widgets/demo.0123abcd.js"].map((target) =>
      rawStatus(url, target, headers),
    ),
  );

  assert.deepEqual(statuses, [421, 421, 421, 421]);
});

test("a request without a Host header is refused", async (t) => {
  const { url } = await serveApp(t);

  assert.match(await exchange(url, "GET /api HTTP/1.1\r\nHost:\r\n"), /^HTTP\/1\.1 421 /);
  assert.match(await exchange(url, "GET /api HTTP/1.0\r\n"), /^HTTP\/1\.1 421 /);
  for (const target of ["/api", "/", "/api/v1/config"]) {
    assertProblem(await exchange(url, `GET ${target} HTTP/1.1\r\n`), 421, "unknown_host");
  }
});

for (const [name, head] of Object.entries({
  "two Hosts": "GET /api HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n",
  "an absolute target": "GET http://localhost/api HTTP/1.1\r\nHost: localhost\r\n",
  "an absolute target for another host":
    "GET http://evil.example/api HTTP/1.1\r\nHost: localhost\r\n",
  "a target that is not a path": "OPTIONS * HTTP/1.1\r\nHost: localhost\r\n",
})) {
  test(`a request with ${name} is 400`, async (t) => {
    const { url } = await serveApp(t);

    const answer = await exchange(url, head);

    assert.match(answer, /^HTTP\/1\.1 400 [\s\S]*"code":"bad_request"/);
  });
}

const HEAD = "GET /api HTTP/1.1\r\nHost: localhost\r\n";
for (const [name, head, status, code] of [
  ["a head over 16 KiB", `${HEAD}X: ${"x".repeat(17_000)}\r\n`, 431, "headers_too_large"],
  ["an invalid request line", "not http\r\n", 400, "bad_request"],
  ["an invalid header", `${HEAD}a b: c\r\n`, 400, "bad_request"],
] as const) {
  test(`${name} is refused with a problem document`, async (t) => {
    const { url } = await serveApp(t);

    const answer = await exchange(url, head);

    assertProblem(answer, status, code);
    assert.match(answer, /\r\nConnection: close\r\n[\s\S]*\r\nX-Content-Type-Options: nosniff\r\n/);
  });
}

test("chunk extensions over 16 KiB are refused with a problem document", async (t) => {
  const { url } = await serveApp(t);
  const socket = connect(Number(new URL(url).port), "127.0.0.1");
  const head = "PATCH /api/v1/config HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n";

  socket.write(`${head}\r\n1;${"x".repeat(17_000)}`);

  assertProblem(await allOf(socket), 413, "body_too_large");
});

test("an invalid request after an answer is refused, and nothing is written into a begun answer", async (t) => {
  const { url, token } = await serveApp(t);
  const events = `GET /api/v1/events HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${await token("read")}\r\n\r\n`;
  const [after, within] = [`${HEAD}\r\n`, events].map((request) => {
    const socket = connect(Number(new URL(url).port), "127.0.0.1");
    socket.write(request);
    socket.once("data", () => socket.write("not http\r\n\r\n"));
    return allOf(socket);
  });

  assert.match((await after) ?? "", /^HTTP\/1\.1 200 [\s\S]+HTTP\/1\.1 400 /);
  const stream = (await within) ?? "";
  assert.match(stream, /^HTTP\/1\.1 200 /);
  assert.doesNotMatch(stream, /HTTP\/1\.1 400/);
});

test("the host survives a connection that is reset within a head", async (t) => {
  const { url } = await serveApp(t);
  const socket = connect(Number(new URL(url).port), "127.0.0.1");
  socket.write(HEAD);
  await once(socket, "connect");

  socket.resetAndDestroy();

  assert.equal((await fetch(`${url}/api`)).status, 200);
});

test("an unknown expectation is ignored", async (t) => {
  const { url } = await serveApp(t);

  assert.match(await exchange(url, `${HEAD}Expect: tea\r\n`), /^HTTP\/1\.1 200 /);
});

test("forwarded client addresses are ignored without a trusted proxy", async (t) => {
  const { url, config } = await serveApp(t);
  await config.patch(
    { server: { rateLimit: { perSecond: 0.01, burst: 2, loopback: true } } },
    { admin: true },
  );

  const statuses: number[] = [];
  for (let n = 1; n <= 4; n++) {
    const forwarded = { "x-forwarded-for": `10.0.0.${n}`, "x-forwarded-host": "evil.example" };
    statuses.push((await fetch(`${url}/api`, { headers: forwarded })).status);
  }

  assert.deepEqual(statuses, [200, 200, 429, 429]);
});

test("every answer has the security headers and no CORS headers", async (t) => {
  const { url, api } = await serveApp(t);

  const answers = await Promise.all([
    fetch(`${url}/`),
    fetch(`${url}/api`),
    fetch(`${url}/nothing`, { headers: { origin: "http://evil.example" } }),
    api("read", "/config"),
  ]);

  for (const { headers } of answers) {
    const policy = headers.get("content-security-policy") ?? "";
    assert.match(policy, /default-src 'none'/);
    assert.match(policy, /frame-ancestors 'none'/);
    assert.doesNotMatch(policy, /unsafe/);
    assert.equal(headers.get("x-content-type-options"), "nosniff");
    assert.equal(headers.get("referrer-policy"), "no-referrer");
    assert.equal(headers.get("access-control-allow-origin"), null);
    assert.ok(headers.get("x-request-id"));
  }
});

test("pages may be framed from the origins of the config, and from the host's own", async (t) => {
  const { url, config } = await serveApp(t);
  const policy = async () => (await fetch(`${url}/`)).headers.get("content-security-policy") ?? "";
  assert.match(await policy(), /; frame-src 'self'$/);

  await config.patch({ server: { frames: ["https://example.org"] } }, { admin: true });

  assert.match(await policy(), /default-src 'none'.*; frame-src 'self' https:\/\/example\.org$/);
  for (const frame of ["*", "https://a.org; script-src *", "https://a.org/path", "data:"]) {
    const wrong = config.patch({ server: { frames: [frame] } }, { admin: true });
    await assert.rejects(wrong, { code: "invalid" }, frame);
  }
});

/** Sends a head as it stands, and gives all that comes back. */
async function exchange(url: string, head: string): Promise<string> {
  const socket = connect(Number(new URL(url).port), "127.0.0.1");
  socket.write(`${head}Connection: close\r\n\r\n`);
  return allOf(socket);
}

async function allOf(socket: Socket): Promise<string> {
  let text = "";
  for await (const bytes of socket) text += String(bytes);
  return text;
}
