import assert from "node:assert/strict";
import { once } from "node:events";
import net, { type AddressInfo, connect, createServer, Socket } from "node:net";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { NetworkFailure } from "@mantel/plugin-sdk/protocol";
import { Connection, type Target } from "../../../../host/modules/process/network/connection.ts";
import { ThroughputLimit } from "../../../../host/modules/process/network/throughput-limit.ts";
import { emptyFolder } from "../../../helpers/folder.ts";
import { showToImports } from "../../../helpers/mocked-imports.ts";
import { onTestEnd } from "../../../helpers/on-test-end.ts";
import { until } from "../../../helpers/until.ts";

const HOST = "127.0.0.1";

/** A server, and the sockets of its clients with what happens to them. */
async function listen(t: TestContext, path?: string) {
  const clients: { socket: Socket; events: string[] }[] = [];
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    const events: string[] = [];
    socket.on("error", ({ message }) => events.push(message));
    socket.on("data", (chunk) => events.push(String(chunk)));
    for (const name of ["end", "close"]) socket.on(name, () => events.push(name));
    clients.push({ socket, events });
  });
  await new Promise<void>((resolve) => server.listen(path ?? { port: 0, host: HOST }, resolve));
  onTestEnd(t, async () => {
    for (const { socket } of clients) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  const port = path === undefined ? (server.address() as AddressInfo).port : 0;
  const client = async () => {
    await until(() => clients.length > 0);
    return clients.at(-1) ?? assert.fail();
  };
  return { port, client };
}

const targetAt = (port: number): Target => ({
  host: "lamp.example",
  port,
  addresses: [{ address: HOST, family: 4 }],
});

/** A connection, with what it reports; `lost` resolves when the test lets it. */
function openConnection(t: TestContext, target: Target) {
  const throughput = new ThroughputLimit(2 ** 30);
  const losses: NetworkFailure[] = [];
  let known = (): void => undefined;
  const parts = { isKnownAtOnce: true, closed: 0 };
  const connection = new Connection(target, {
    throughput,
    lost: (failure) => {
      losses.push(failure);
      return new Promise((resolve) => {
        known = resolve;
        if (parts.isKnownAtOnce) resolve();
      });
    },
    closed: () => void parts.closed++,
  });
  onTestEnd(t, async () => {
    connection.destroy();
    throughput.close();
  });
  return { connection, losses, parts, knows: () => known(), opened: connection.opened(target) };
}

/** The process's end of a connection, and the host's. */
async function openNear(t: TestContext) {
  const path = join(await emptyFolder(t), "s");
  const server = createServer({ allowHalfOpen: true, pauseOnConnect: true });
  await new Promise<void>((resolve) => server.listen(path, resolve));
  const events: string[] = [];
  const own = connect({ path, allowHalfOpen: true });
  own.on("error", ({ message }) => events.push(message));
  for (const name of ["end", "close"]) own.on(name, () => events.push(name));
  const [near] = (await once(server, "connection")) as [Socket];
  server.close();
  onTestEnd(t, async () => {
    own.destroy();
    near.destroy();
  });
  return { near, own, events };
}

/** A connection to a server through which both ends can talk. */
async function openThrough(t: TestContext, path?: string) {
  const { port, client } = await listen(t, path);
  const opened = openConnection(t, path === undefined ? targetAt(port) : { path });
  assert.equal(await opened.opened, undefined);
  return { ...opened, ...(await openNear(t)), far: await client() };
}

test("the checked addresses are connected to, without another look-up", async (t) => {
  const { port } = await listen(t);
  const connected = t.mock.method(net, "connect");
  showToImports(t, () => connected.mock.restore());
  const addresses = [
    { address: HOST, family: 4 as const },
    { address: "::1", family: 6 as const },
  ];
  const target = { host: "lamp.example", port, addresses };

  const { opened } = openConnection(t, { ...target, localAddress: HOST });
  assert.equal(await opened, undefined);
  const without = openConnection(t, target);
  await without.opened;

  const [first, second] = connected.mock.calls.map(
    (call) => (call.arguments as unknown as [Record<string, unknown>])[0],
  );
  const { lookup, ...options } = first ?? {};
  assert.deepEqual(options, {
    host: "lamp.example",
    port,
    localAddress: HOST,
    noDelay: true,
    keepAlive: true,
    keepAliveInitialDelay: 60_000,
    autoSelectFamily: true,
    allowHalfOpen: true,
  });
  const found: unknown[][] = [];
  const look = lookup as (
    name: string,
    options: object,
    answer: (...found: unknown[]) => void,
  ) => void;
  look("lamp.example", { all: true }, (...answer) => found.push(answer));
  look("lamp.example", {}, (...answer) => found.push(answer));
  assert.deepEqual(found, [
    [null, addresses],
    [null, HOST, 4],
  ]);
  assert.equal("localAddress" in (second ?? {}), false);
});

for (const [where, target] of [
  [`${HOST}:80`, targetAt(80)],
  ["lamp.example:80", { ...targetAt(80), addresses: [] }],
  ["/run/lamp.sock", { path: "/run/lamp.sock" }],
] as const) {
  test(`a connection to ${where} that nobody answers fails after 20 seconds`, async (t) => {
    const silent = new Socket();
    const connected = t.mock.method(net, "connect", () => silent);
    showToImports(t, () => connected.mock.restore());
    t.mock.timers.enable({ apis: ["setTimeout"] });

    const { opened } = openConnection(t, target);
    t.mock.timers.tick(19_999);
    assert.equal(silent.destroyed, false);
    t.mock.timers.tick(1);

    const { message, code } = (await opened) ?? assert.fail();
    assert.equal(message, `connect ETIMEDOUT ${where} - no answer in 20000 ms`);
    assert.deepEqual([code, silent.destroyed], ["ETIMEDOUT", true]);
  });
}

test("a connection that is open does not time out", async (t) => {
  const { port } = await listen(t);
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const { connection, opened, parts } = openConnection(t, targetAt(port));
  await opened;

  t.mock.timers.tick(60_000);

  assert.deepEqual([connection.isGivenUp, parts.closed], [false, 0]);
  assert.ok(connection.ends);
});

test("a connection that is closed before it is open was cancelled", async (t) => {
  const { port } = await listen(t);
  const { connection, opened, parts } = openConnection(t, targetAt(port));

  connection.close(true);

  const { code, message } = (await opened) ?? assert.fail();
  assert.deepEqual([code, message], ["ECONNABORTED", "connect ECONNABORTED  - it was cancelled"]);
  assert.equal(connection.isGivenUp, true);
  await until(() => parts.closed > 0);
});

test("a connection knows its ends, and one to a Unix socket has none", async (t) => {
  const { port, client } = await listen(t);
  const { connection, opened } = openConnection(t, targetAt(port));
  await opened;
  const { socket } = await client();
  assert.deepEqual(connection.ends, {
    remote: { address: HOST, port, family: "IPv4" },
    local: { address: HOST, port: socket.remotePort, family: "IPv4" },
  });

  const local = await openThrough(t, join(await emptyFolder(t), "far"));
  assert.equal(local.connection.ends, undefined);
});

test("a process that closes its end closes the connection, after all that it wrote", async (t) => {
  const { connection, near, own, far, parts } = await openThrough(t);
  connection.attach(near);

  own.end("last words");
  await until(() => far.events.length === 2);
  assert.deepEqual([far.events, parts.closed], [["last words", "end"], 0]);
  far.socket.end();
  own.resume();

  await until(() => parts.closed > 0);
  assert.deepEqual(far.events, ["last words", "end", "close"]);
});

test("a process whose end breaks resets the connection", async (t) => {
  const { connection, near, far, parts } = await openThrough(t);
  connection.attach(near);

  near.destroy(new Error("EPIPE"));

  await until(() => far.events.includes("close"));
  assert.match(far.events.join(), /ECONNRESET/);
  await until(() => parts.closed > 0);
});

test("a loss is reported before the process's end closes", async (t) => {
  const { connection, near, own, events, far, losses, parts, knows } = await openThrough(t);
  parts.isKnownAtOnce = false;
  connection.attach(near);
  own.resume();

  far.socket.resetAndDestroy();
  await until(() => losses.length > 0);
  assert.deepEqual([losses.map(({ code }) => code), events], [["ECONNRESET"], []]);
  knows();

  await until(() => events.includes("end"));
});

test("a loss before the process has connected is reported once it has", async (t) => {
  const { connection, near, own, events, far, losses } = await openThrough(t);
  far.socket.resetAndDestroy();
  await until(() => connection.ends === undefined);
  assert.deepEqual(losses, []);

  connection.attach(near);
  own.resume();

  await until(() => events.includes("end"));
  assert.deepEqual(
    losses.map(({ code }) => code),
    ["ECONNRESET"],
  );
});

test("a process that connects after its connection was closed finds its end closed, and no loss", async (t) => {
  const { connection, near, own, events, losses, parts } = await openThrough(t);

  connection.close(false);
  connection.attach(near);
  own.resume();

  await until(() => events.includes("end"));
  await until(() => parts.closed > 0);
  assert.deepEqual(losses, []);
});

test("closing waits for what the process wrote before", async (t) => {
  const { connection, near, own, events, far, parts } = await openThrough(t);
  connection.attach(near);

  connection.close(false);
  own.end("last words");
  own.resume();

  await until(() => far.events.includes("close") || far.events.includes("end"));
  assert.deepEqual(far.events.slice(0, 2), ["last words", "end"]);
  far.socket.end();
  await until(() => events.includes("close"));
  await until(() => parts.closed > 0);
});

test("closing after the process ended its side closes at once", async (t) => {
  const { connection, near, own, far, parts, events } = await openThrough(t);
  connection.attach(near);
  own.end("last words");
  own.resume();
  await until(() => far.events.includes("end"));

  connection.close(false);

  await until(() => events.includes("close"));
  far.socket.end();
  await until(() => parts.closed > 0);
  assert.equal(connection.isGivenUp, true);
});

test("closing with a reset breaks the connection for both, and reports no loss", async (t) => {
  const { connection, near, own, events, far, losses, parts } = await openThrough(t);
  connection.attach(near);
  own.resume();

  connection.close(true);

  await until(() => far.events.includes("close") && events.includes("end"));
  assert.match(far.events.join(), /ECONNRESET/);
  assert.deepEqual(losses, []);
  await until(() => parts.closed > 0);
});

test("a connection to a Unix socket, which cannot be reset, is closed", async (t) => {
  const { connection, near, own, far, parts } = await openThrough(
    t,
    join(await emptyFolder(t), "far"),
  );
  connection.attach(near);
  own.resume();

  connection.close(true);

  await until(() => far.events.includes("end") || far.events.includes("close"));
  await until(() => parts.closed > 0);
});

test("a connection whose process never connects is over when it is destroyed, and not when only one end is closed", async (t) => {
  const { connection, near, own, far, parts } = await openThrough(t);
  far.socket.destroy();
  connection.attach(near);
  await until(() => own.resume().readableEnded);
  assert.equal(parts.closed, 0); // the process may still write

  connection.destroy();

  await until(() => parts.closed > 0);
});
