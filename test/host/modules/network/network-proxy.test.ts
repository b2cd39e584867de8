import assert from "node:assert/strict";
import dns from "node:dns/promises";
import { once } from "node:events";
import { existsSync, readdirSync, statSync } from "node:fs";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import type { ConnectionAnswer, NetworkFailure } from "@mantel/plugin-sdk/protocol";
import { NetworkProxy } from "../../../../host/modules/process/network/network-proxy.ts";
import { onTestEnd } from "../../../helpers/on-test-end.ts";
import { until } from "../../../helpers/until.ts";

const HOST = "127.0.0.1";
const begin = async (): Promise<void> => undefined;

/** The proxy of a process, and its calls. */
function openProxy(t: TestContext, ...declared: string[]) {
  const proxy = new NetworkProxy(declared);
  const lost: NetworkFailure[] = [];
  proxy.onLost(async (_, failure) => void lost.push(failure));
  onTestEnd(t, async () => proxy.close());
  const { lookUp, openConnection, closeConnection } = proxy.api;
  return {
    proxy,
    lost,
    lookUp: async (host: string) => lookUp({ host, family: 0 }, begin),
    records: async (host: string) => lookUp({ host, type: "A", ttl: false }, begin),
    open: async (connection: number, port: number, host = HOST) =>
      openConnection({ connection, host, port, family: 0 }, begin),
    openPath: async (connection: number, path: string) =>
      openConnection({ connection, path }, begin),
    close: async (connection: number, reset = false) =>
      closeConnection({ connection, reset }, begin),
  };
}

/** A server on loopback, and its sockets. */
async function listen(t: TestContext, at?: string) {
  const sockets: Socket[] = [];
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    socket.on("error", () => undefined);
    sockets.push(socket);
  });
  await new Promise<void>((resolve) => server.listen(at ?? { port: 0, host: HOST }, resolve));
  onTestEnd(t, async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  const port = at === undefined ? (server.address() as AddressInfo).port : 0;
  return { port, sockets, server };
}

function opened(answer: ConnectionAnswer): string {
  assert.ok("opened" in answer, JSON.stringify(answer));
  return answer.opened.path;
}

function failureIn(answer: object): NetworkFailure {
  assert.ok("failure" in answer, JSON.stringify(answer));
  return answer.failure as NetworkFailure;
}

/** Connects as the process does. */
async function enter(t: TestContext, path: string): Promise<Socket> {
  const socket = connect({ path, allowHalfOpen: true });
  socket.on("error", () => undefined);
  onTestEnd(t, async () => void socket.destroy());
  await once(socket, "connect");
  return socket;
}

/** All that comes until the end. The consumers of node:stream would destroy the socket then. */
function text(socket: Socket): Promise<string> {
  let all = "";
  socket.on("data", (chunk: Buffer) => (all += String(chunk)));
  return new Promise((resolve) => socket.once("end", () => resolve(all)));
}

test("a connection carries every byte in both directions, and each end of stream", async (t) => {
  const { port, sockets } = await listen(t);
  const { open } = openProxy(t, HOST);

  const answer = await open(1, port);
  const near = await enter(t, opened(answer));
  await until(() => sockets.length === 1);
  const [far] = sockets as [Socket];
  const { remotePort } = far;
  const received = text(near);
  far.write("from far");
  await once(near, "data");
  near.end("from near");
  assert.equal(await text(far), "from near");
  far.end(", and after the end");
  assert.equal(await received, "from far, and after the end");

  assert.ok("opened" in answer);
  assert.deepEqual(answer.opened.ends?.remote, { address: HOST, port, family: "IPv4" });
  assert.equal(answer.opened.ends?.local.port, remotePort);
});

test("a refused connection fails with Node's message", async (t) => {
  const { port, server } = await listen(t);
  await new Promise((resolve) => server.close(resolve));
  const { open } = openProxy(t, HOST);

  const { message, ...failure } = failureIn(await open(1, port));

  assert.equal(message, `connect ECONNREFUSED ${HOST}:${port}`);
  const { errno, ...rest } = failure;
  assert.ok((errno ?? 0) < 0);
  assert.deepEqual(rest, { code: "ECONNREFUSED", syscall: "connect", address: HOST, port });
});

test("undeclared hosts are refused before the look-up", async (t) => {
  const looked = t.mock.method(dns, "lookup");
  const { open, openPath, lookUp, records } = openProxy(t, "a.example", "/run/a.sock");

  const refused = (host: string) => ({ refusal: { reached: host, toDeclare: host } });
  assert.deepEqual(await open(1, 80, "b.example"), refused("b.example"));
  assert.deepEqual(await open(2, 80), refused(HOST));
  assert.deepEqual(await lookUp("b.example"), refused("b.example"));
  assert.deepEqual(await records("b.example"), refused("b.example"));
  assert.deepEqual(await openPath(3, "/run/b.sock"), refused("/run/b.sock"));
  await assert.rejects(openPath(4, "run/a.sock"), /absolute/);
  assert.equal(looked.mock.callCount(), 0);
});

test("a malformed request is refused", async (t) => {
  const { proxy } = openProxy(t, "*");
  const { openConnection, lookUp, closeConnection } = proxy.api;

  for (const request of [
    null,
    {},
    { connection: 1, host: "a", port: 65_536, family: 0 },
    { connection: 1.5, host: "a", port: 1, family: 0 },
    { connection: 1, host: "a".repeat(254), port: 1, family: 0 },
    { connection: 1, host: "a", port: 1, family: 5 },
  ]) {
    await assert.rejects(async () => openConnection(request as never, begin), /is invalid/);
  }
  await assert.rejects(
    async () => lookUp({ host: "a", type: "ANY" } as never, begin),
    /is invalid/,
  );
  await assert.rejects(async () => closeConnection({} as never, begin), /is invalid/);
});

test("an allowed name resolves, and its addresses are allowed", async (t) => {
  t.mock.method(dns, "lookup", async () => [
    { address: "10.0.0.7", family: 4 },
    { address: "127.0.0.1", family: 4 },
    { address: "192.0.2.7", family: 4 },
  ]);
  t.mock.method(dns, "resolve", async () => ["169.254.169.254", "192.0.2.8"]);
  const { lookUp, records, proxy } = openProxy(t, "api.example");

  assert.deepEqual(await lookUp("api.example"), { found: [{ address: "192.0.2.7", family: 4 }] });
  assert.deepEqual(await records("api.example"), { found: ["192.0.2.8"] });
  const may = ["192.0.2.7", "192.0.2.8", "10.0.0.7", "127.0.0.1", "169.254.169.254"].filter((at) =>
    proxy.hosts.allows(at),
  );
  assert.deepEqual(may, ["192.0.2.7", "192.0.2.8"]);
});

test("a public name that resolves to a private address is refused, with the entry to declare", async (t) => {
  const { port, sockets } = await listen(t);
  t.mock.method(dns, "lookup", async () => [{ address: HOST, family: 4 }]);
  t.mock.method(dns, "resolve", async () => [HOST]);
  const { open, lookUp, records } = openProxy(t, "api.example");

  const refusal = { reached: `${HOST}, to which the name api.example resolves`, toDeclare: HOST };
  assert.deepEqual(await open(1, port, "api.example"), { refusal });
  assert.deepEqual(await lookUp("api.example"), { refusal });
  assert.deepEqual(await records("api.example"), { refusal });
  assert.equal(sockets.length, 0);
});

test("the connection uses the checked address", async (t) => {
  const { port } = await listen(t);
  const answers = ["127.0.0.1", "192.0.2.7"]; // a name server that changes its mind
  const lookup = t.mock.method(dns, "lookup", async () => [
    { address: answers.shift(), family: 4 },
  ]);
  const { open } = openProxy(t, "api.example", HOST);

  opened(await open(1, port, "api.example"));

  assert.equal(lookup.mock.callCount(), 1);
});

test("hosts from options and services are allowed once the process has received them", async (t) => {
  const { port } = await listen(t);
  const { open, proxy } = openProxy(t, "config:url", "service:mqtt.broker");
  proxy.learnFrom({ name: "broker.address" }, { url: `mqtt://${HOST}` });
  assert.ok("refusal" in (await open(1, port)));

  proxy.learnFrom({ name: "mqtt.broker" }, { url: `mqtt://${HOST}` });

  opened(await open(2, port));
});

test("a process has 256 connections at most, and opens 64 at once", async (t) => {
  const { port } = await listen(t);
  const { open, close, openPath } = openProxy(t, "*");
  for (let number = 0; number < 256; number++) opened(await open(number, port));

  const failure = failureIn(await open(256, port));
  assert.equal(failure.code, "EMFILE");
  assert.match(failure.message, /^connect EMFILE 127\.0\.0\.1:\d+ - 256 connections are open$/);
  assert.equal(failureIn(await openPath(256, "/x")).code, "EMFILE");
  for (let number = 0; number < 256; number++) await close(number);
  await until(async () => "opened" in (await open(256, port)));

  t.mock.method(dns, "lookup", () => new Promise(() => undefined));
  for (let number = 300; number < 350; number++) void open(number, port, "a.example");
  t.mock.method(performance, "now", () => 1e9); // another second, for the limit of look-ups
  for (let number = 350; number < 364; number++) void open(number, port, "a.example");
  assert.match(failureIn(await open(400, port)).message, /64 connections are being opened/);
});

test("a process can look up at most 50 names per second", async (t) => {
  t.mock.method(dns, "lookup", async () => [{ address: "192.0.2.7", family: 4 }]);
  t.mock.method(performance, "now", () => 5_000);
  const { lookUp } = openProxy(t, "*.example");
  for (let at = 0; at < 50; at++) assert.ok("found" in (await lookUp(`${at}.example`)));

  const { message, code } = failureIn(await lookUp("50.example"));

  assert.equal(code, "EAI_AGAIN");
  assert.equal(message, "getaddrinfo EAI_AGAIN 50.example - more than 50 lookups per second");
});

test("an unanswered look-up times out and delays at most two others of its process", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const asked: string[] = [];
  t.mock.method(dns, "lookup", (host: string) => {
    asked.push(host);
    return new Promise(() => undefined);
  });
  const { lookUp } = openProxy(t, "*.example");

  const answers = ["a.example", "b.example", "c.example"].map(lookUp);
  await Promise.resolve();
  t.mock.timers.tick(15_000);

  for (const answer of await Promise.all(answers))
    assert.equal(failureIn(answer).code, "EAI_AGAIN");
  assert.deepEqual(asked, ["a.example", "b.example"]);
});

test("a connection cancelled during the look-up is not opened", async (t) => {
  const { port, sockets } = await listen(t);
  let found: (addresses: unknown) => void = () => undefined;
  t.mock.method(dns, "lookup", () => new Promise((resolve) => (found = resolve)));
  const { open, close } = openProxy(t, "a.example", HOST);

  const answer = open(1, port, "a.example");
  await until(() => String(found).includes("native"));
  await close(1);
  found([{ address: HOST, family: 4 }]);

  assert.equal(failureIn(await answer).code, "ECONNABORTED");
  assert.equal(sockets.length, 0);
});

test("opening a second connection with a number in use is refused", async (t) => {
  const { port } = await listen(t);
  const { open } = openProxy(t, HOST);
  opened(await open(1, port));

  await assert.rejects(open(1, port), /there is already a connection 1/);
});

test("a connection that the process does not pick up is closed", async (t) => {
  const { port, sockets } = await listen(t);
  const { open } = openProxy(t, HOST);
  t.mock.timers.enable({ apis: ["setTimeout"] });

  const path = opened(await open(1, port));
  assert.ok(existsSync(path));
  t.mock.timers.tick(5_000);
  t.mock.timers.reset();

  await until(() => sockets[0]?.resume().readableEnded === true);
  assert.equal(existsSync(path), false);
});

test("a relay socket with a pending connection is not reused", async (t) => {
  const { port } = await listen(t);
  const { open, close } = openProxy(t, HOST);

  const first = opened(await open(1, port));
  await close(1);
  const second = opened(await open(2, port));
  await enter(t, second);
  const third = opened(await open(3, port));

  assert.notEqual(second, first);
  assert.ok(!existsSync(first));
  assert.equal(third, second); // somebody has come through it, so nobody else is on the way
});

test("a second connection to a relay socket gets nothing", async (t) => {
  const { port, sockets } = await listen(t);
  const { open } = openProxy(t, HOST);
  const path = opened(await open(1, port));
  await enter(t, path);

  const second = await enter(t, path);

  await once(second.resume(), "end");
  assert.equal(sockets.length, 1);
});

test("data written before closing arrives, and a reset discards it", async (t) => {
  const { port, sockets } = await listen(t);
  const { open, close } = openProxy(t, HOST);
  const first = await enter(t, opened(await open(1, port)));
  first.end("last words");
  first.destroySoon();
  await close(1);
  await until(() => sockets.length === 1);
  assert.equal(await text(sockets[0] as Socket), "last words");

  const second = await enter(t, opened(await open(2, port)));
  await until(() => sockets.length === 2);
  const broken = new Promise((resolve) => sockets[1]?.once("error", resolve));
  await close(2, true);
  assert.match(String(await broken), /ECONNRESET/);
  second.destroy();
});

test("a connection broken by the remote end is reported before this end closes", async (t) => {
  const { port, sockets } = await listen(t);
  const { open, lost } = openProxy(t, HOST);
  const near = await enter(t, opened(await open(1, port)));
  await until(() => sockets.length === 1);

  sockets[0]?.resetAndDestroy();
  await once(near.resume(), "end");

  assert.deepEqual(
    lost.map(({ code }) => code),
    ["ECONNRESET"],
  );
});

test("the folder is private, has short paths, and is removed with the process", async (t) => {
  const { port, sockets } = await listen(t);
  const { proxy, open } = openProxy(t, HOST);
  const path = opened(await open(1, port));
  const near = await enter(t, path);

  assert.equal(statSync(proxy.folder).mode & 0o777, 0o700);
  assert.equal(statSync(join(proxy.folder, "..")).mode & 0o777, 0o700);
  assert.ok(path.startsWith(`${proxy.folder}/`) && path.length < 104, path);
  assert.ok(readdirSync(proxy.folder).length > 0); // an empty folder might be cleaned up
  proxy.close();
  assert.ok(!existsSync(join(proxy.folder, "..")));
  await once(near.resume(), "end");
  await until(() => sockets[0]?.resume().readableEnded === true);
});

test("a Unix socket is reached by its path", async (t) => {
  const { proxy } = openProxy(t, HOST);
  const path = join(proxy.folder, "..", "other.sock");
  const { sockets } = await listen(t, path);
  const { openPath } = openProxy(t, path);

  const answer = await openPath(1, path);
  const near = await enter(t, opened(answer));
  near.end("hello");

  await until(() => sockets.length === 1);
  assert.equal(await text(sockets[0] as Socket), "hello");
  assert.ok("opened" in answer && answer.opened.ends === undefined);
});
