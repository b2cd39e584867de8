import assert from "node:assert/strict";
import { once } from "node:events";
import type { IncomingHttpHeaders } from "node:http";
import { Agent, request as startRequest, type RequestOptions } from "node:https";
import { connect, type Socket } from "node:net";
import { test, type TestContext } from "node:test";
import { connect as connectTls } from "node:tls";
import { createApp } from "../../../host/http/app.ts";
import { ServerCertificate } from "../../../host/http/certificate.ts";
import { HttpServer } from "../../../host/http/server.ts";
import { collectedLog } from "../../helpers/collected-log.ts";
import { until } from "../../helpers/until.ts";
import { assertProblem } from "./assert-problem.ts";
import { serveApp } from "./serve-app.ts";
import { writtenPair } from "./tls-pair.ts";

test("HTTPS is answered, checked by the authority, and browsers are told to stay with it", async (t) => {
  const { url, ca } = await serveTls(t);

  const { status, headers } = await ask(`${url}/api`, { ca });

  assert.match(url, /^https:\/\/127\.0\.0\.1:\d+$/);
  assert.equal(status, 200);
  assert.equal(headers["strict-transport-security"], "max-age=2592000");
  await assert.rejects(ask(`${url}/api`, {}), /certificate/);
});

test("plain HTTP is redirected, without forwarding a token", async (t) => {
  const { port } = await serveTls(t);
  const host = `Host: home.local:${port}\r\n`;

  const page = await exchange(port, `GET /a?b=c HTTP/1.1\r\n${host}\r\n`);
  const withToken = await exchange(
    port,
    `GET /api/v1/config HTTP/1.1\r\n${host}Authorization: Bearer x\r\n\r\n`,
  );
  const post = await exchange(port, `POST /api HTTP/1.1\r\n${host}Content-Length: 0\r\n\r\n`);
  const odd = await exchange(port, "GET / HTTP/1.1\r\nHost: a/b@c\r\n\r\n");
  const noise = await exchange(port, "\u0001\u0002 hello\r\n\r\n");

  assert.match(page, /^HTTP\/1\.1 308 [\s\S]+\r\nLocation: https:\/\/home\.local:\d+\/a\?b=c\r\n/);
  assert.doesNotMatch(page, /Strict-Transport/i, "it may not be said without TLS (RFC 6797, 7.2)");
  for (const answer of [withToken, post, odd])
    assert.match(answer, /^HTTP\/1\.1 426 .+https:\/\//s);
  assertProblem(noise, 400, "bad_request");
});

test("over TLS, what cannot be read and what has no Host is refused with a problem document", async (t) => {
  const { port, ca } = await serveTls(t);
  const send = async (text: string) => {
    const socket = connectTls({ port, host: "127.0.0.1", ca });
    socket.write(text);
    return allOf(socket);
  };

  const long = `GET / HTTP/1.1\r\nHost: localhost\r\nX: ${"x".repeat(17_000)}\r\n\r\n`;
  assertProblem(await send(long), 431, "headers_too_large");
  assertProblem(await send("not http\r\n\r\n"), 400, "bad_request");
  const hostless = "GET /api HTTP/1.1\r\nConnection: close\r\n\r\n";
  assertProblem(await send(hostless), 421, "unknown_host");
});

test("a failed handshake gets no HTTP", async (t) => {
  const { port } = await serveTls(t);

  const answer = await exchange(port, "\u0016\u0003\u0001\u0000\u0005hello");

  assert.doesNotMatch(answer, /HTTP/);
});

test("over TLS the session cookie is bound to the host and to TLS", async (t) => {
  const { url, ca, parts } = await serveTls(t);
  const { host, port } = new URL(url);
  const token = await parts.tokens.issue({ name: "anna", scope: ["read"], ttlSeconds: 60 });
  const authorization = `Bearer ${token}`;
  const signIn = (origin: string) =>
    ask(`${url}/api/v1/session`, { ca, method: "POST", headers: { origin, authorization } });

  const plain = await signIn(`http://${host}`);
  const { status, headers } = await signIn(url);
  const [cookie = ""] = headers["set-cookie"] ?? [];
  const [, session = ""] = /=([^;]+)/.exec(cookie) ?? [];
  const readWith = async (name: string) =>
    (await ask(`${url}/api/v1/config`, { ca, headers: { cookie: `${name}=${session}` } })).status;

  assert.deepEqual([plain.status, status], [403, 201]);
  assert.match(cookie, /^__Host-.*; Path=\/; Max-Age=\d+; HttpOnly; SameSite=Strict; Secure$/);
  assert.equal(await readWith(`__Host-mantel_session_${port}`), 200);
  assert.equal(await readWith(`mantel_session_${port}`), 401, "another server may have set it");
});

test("a device without the authority can load it, and nothing else, by plain HTTP", async (t) => {
  const { port, ca } = await serveTls(t);

  const answer = await fetch(`http://127.0.0.1:${port}/ca.crt`);

  const der = Buffer.from(await answer.arrayBuffer());
  assert.equal(answer.headers.get("content-type"), "application/x-x509-ca-cert");
  assert.equal(der.toString("base64"), ca.replaceAll(/-----.+-----|\s/g, ""));
});

test("a renewed certificate is used for new connections, and open ones continue", async (t) => {
  const { url, ca, port, rewrite } = await serveTls(t);
  const agent = new Agent({ keepAlive: true, maxSockets: 1, ca });
  t.after(() => agent.destroy());
  const before = await serialAt(port, ca);
  await ask(`${url}/api`, { agent });
  const [socket] = Object.values(agent.freeSockets).flat();

  await rewrite();
  const after = await until(
    async () => {
      const serial = await serialAt(port, ca);
      return serial !== before && serial;
    },
    { withinMs: 5_000 },
  );
  const { status, reused } = await ask(`${url}/api`, { agent });

  assert.notEqual(after, before);
  assert.deepEqual([status, reused, socket?.destroyed], [200, true, false]);
});

test("silent or unfinished TLS connections do not prevent the server from closing", async (t) => {
  const pair = await writtenPair(t);
  const certificate = new ServerCertificate(pair, collectedLog());
  const { parts } = await serveApp(t);
  const server = await HttpServer.listen({
    app: createApp(parts),
    host: "127.0.0.1",
    port: 0,
    certificate,
  });
  const port = Number(new URL(server.url).port);
  const sockets = Array.from({ length: 10 }, () => connect(port, "127.0.0.1"));
  for (const socket of sockets) socket.on("error", () => undefined);
  await Promise.all(sockets.map((socket) => once(socket, "connect")));
  for (const socket of sockets.slice(5)) socket.write(Buffer.from([0x16, 3, 1]));

  await server.close(500);

  await until(() => sockets.every(({ destroyed, readableEnded }) => destroyed || readableEnded));
  for (const socket of sockets) socket.destroy();
});

async function serveTls(t: TestContext) {
  const pair = await writtenPair(t);
  const { parts } = await serveApp(t);
  const certificate = new ServerCertificate(pair, collectedLog());
  const server = await HttpServer.listen({
    app: createApp(parts),
    host: "127.0.0.1",
    port: 0,
    certificate,
  });
  t.after(() => server.close(1_000));
  return { ...pair, parts, url: server.url, port: Number(new URL(server.url).port) };
}

function ask(url: string, options: RequestOptions) {
  return new Promise<{ status: number; headers: IncomingHttpHeaders; reused: boolean }>(
    (resolve, reject) => {
      const request = startRequest(url, options, (response) => {
        response.resume();
        const { statusCode: status = 0, headers } = response;
        response.on("end", () => resolve({ status, headers, reused: request.reusedSocket }));
      }).on("error", reject);
      request.end();
    },
  );
}

async function serialAt(port: number, ca: string): Promise<string> {
  const socket = connectTls({ port, host: "127.0.0.1", ca });
  await once(socket, "secureConnect");
  const { serialNumber } = socket.getPeerCertificate();
  socket.destroy();
  return serialNumber;
}

/** Sends a text as it stands, and gives all that comes back. */
async function exchange(port: number, head: string): Promise<string> {
  const socket = connect(port, "127.0.0.1");
  socket.write(head);
  return allOf(socket);
}

async function allOf(socket: Socket): Promise<string> {
  let text = "";
  for await (const bytes of socket) text += String(bytes);
  return text;
}
