import assert from "node:assert/strict";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { dirname, join } from "node:path";
import { type TestContext, test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { RelaySockets } from "../../../../host/modules/process/network/relay-sockets.ts";
import { emptyFolder } from "../../../helpers/folder.ts";
import { onTestEnd } from "../../../helpers/on-test-end.ts";

/** Lets the folder for temporary files be this one. */
function setTemporary(t: TestContext, folder: string): void {
  const former = process.env["TMPDIR"];
  process.env["TMPDIR"] = folder;
  onTestEnd(t, async () => {
    if (former === undefined) delete process.env["TMPDIR"];
    else process.env["TMPDIR"] = former;
  });
}

function open(t: TestContext): RelaySockets {
  const sockets = new RelaySockets();
  onTestEnd(t, async () => sockets.close());
  return sockets;
}

/** A relay socket, and the results of waiting at it. */
function openSocket(sockets: RelaySockets) {
  const results: string[] = [];
  const socket = sockets.open({
    connected: (near) => (results.push("connected"), near.destroy()),
    expired: () => results.push("expired"),
  });
  const connectOnce = async () => {
    const near = connect(socket.path);
    near.on("error", () => undefined);
    await once(near.resume(), "close");
  };
  return { ...socket, results, connectOnce };
}

test("folders of hosts that were killed are removed, and no others", async (t) => {
  const temporary = await emptyFolder(t);
  const dead = ["mantel-net-4242-aB", `mantel-net-${process.pid}-aB`];
  const kept = [
    "mantel-net-4243-aB",
    "mantel-net-4244-aB",
    "mantel-net-x-aB",
    "mantel-net-4242",
    "a-mantel-net-4242-b",
  ];
  for (const name of [...dead, ...kept]) mkdirSync(join(temporary, name, "1"), { recursive: true });
  setTemporary(t, temporary);
  t.mock.method(process, "kill", (pid: number, signal: number) => {
    assert.equal(signal, 0); // it only looks
    if (pid === 4_243) return true;
    throw Object.assign(new Error("kill"), { code: pid === 4_242 ? "ESRCH" : "EPERM" });
  });

  const { folder } = open(t);

  const own = dirname(folder);
  assert.ok(own.startsWith(join(temporary, `mantel-net-${process.pid}-`)), own);
  assert.deepEqual(
    readdirSync(temporary)
      .filter((name) => join(temporary, name) !== own)
      .toSorted(),
    kept.toSorted(),
  );
});

test("the folder of this host stays while one of its processes uses it", async (t) => {
  const temporary = await emptyFolder(t);
  setTemporary(t, temporary);
  const [first, second] = [open(t), open(t)];

  assert.equal(dirname(first.folder), dirname(second.folder));
  assert.notEqual(first.folder, second.folder);
  first.close();
  assert.deepEqual([existsSync(first.folder), existsSync(second.folder)], [false, true]);
  second.close();
  assert.deepEqual(readdirSync(temporary), []);

  const third = open(t);
  assert.ok(existsSync(third.folder));
});

test("a folder for temporary files with a long path is not used: the paths of sockets are limited", async (t) => {
  const home = await emptyFolder(t);
  const longest = join(home, "x".repeat(75 - home.length - 1));
  mkdirSync(longest);
  mkdirSync(`${longest}y`);

  setTemporary(t, longest);
  const fits = new RelaySockets();
  assert.ok(fits.folder.startsWith(`${longest}/`));
  fits.close();
  setTemporary(t, `${longest}y`);
  const { folder } = open(t);

  assert.ok(folder.startsWith("/tmp/mantel-net-"), folder);
});

test("a relay socket is there before it is needed, and used again after a connection", async (t) => {
  const sockets = open(t);
  const ready = () => readdirSync(sockets.folder);
  assert.deepEqual(ready(), ["1"]);

  const first = openSocket(sockets);
  await first.connectOnce();
  const second = openSocket(sockets);
  assert.equal(second.path, first.path);
  await second.connectOnce();

  assert.deepEqual([first.results, second.results], [["connected"], ["connected"]]);
  assert.deepEqual(ready(), ["1"]);
});

test("of several relay sockets that were used, one is kept", async (t) => {
  const sockets = open(t);
  const [first, second] = [openSocket(sockets), openSocket(sockets)];
  assert.notEqual(first.path, second.path);
  await setImmediate();

  await first.connectOnce();
  await second.connectOnce();

  assert.deepEqual(readdirSync(sockets.folder), ["1"]);
});

test("a relay socket that nobody uses expires after five seconds, and is not used again", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const sockets = open(t);
  const socket = openSocket(sockets);

  t.mock.timers.tick(4_999);
  assert.deepEqual(socket.results, []);
  t.mock.timers.tick(1);

  assert.deepEqual(socket.results, ["expired"]);
  assert.equal(existsSync(socket.path), false);
  assert.notEqual(openSocket(sockets).path, socket.path);
});

test("a connection ends the wait", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const sockets = open(t);
  const socket = openSocket(sockets);
  await socket.connectOnce();

  t.mock.timers.tick(10_000);

  assert.deepEqual(socket.results, ["connected"]);
  assert.ok(existsSync(socket.path));
});

test("a discarded relay socket is closed without a connection, and not used again", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const sockets = open(t);
  const socket = openSocket(sockets);

  socket.discard();
  socket.discard();
  t.mock.timers.tick(10_000);

  assert.deepEqual([socket.results, existsSync(socket.path)], [[], false]);
  assert.notEqual(openSocket(sockets).path, socket.path);
});

test("discarding after the connection leaves the relay socket to the next one", async (t) => {
  const sockets = open(t);
  const first = openSocket(sockets);
  await first.connectOnce();
  const second = openSocket(sockets);

  first.discard();
  await second.connectOnce();

  assert.deepEqual([second.path, second.results], [first.path, ["connected"]]);
});

test("a connection that nobody waits for is closed", async (t) => {
  const sockets = open(t);
  const first = openSocket(sockets);
  await first.connectOnce();

  await first.connectOnce();

  assert.deepEqual(first.results, ["connected"]);
});

test("a relay socket that cannot be made expires", async (t) => {
  const sockets = open(t);
  openSocket(sockets);
  writeFileSync(join(sockets.folder, "2"), ""); // in the place of the second one

  const { results } = openSocket(sockets);
  for (let turn = 0; turn < 10 && results.length === 0; turn++) await setImmediate();

  assert.deepEqual(results, ["expired"]);
});

test("closing closes all relay sockets, also those that wait", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const sockets = open(t);
  const socket = openSocket(sockets);

  sockets.close();
  t.mock.timers.tick(10_000);

  assert.deepEqual([socket.results, existsSync(sockets.folder)], [[], false]);
});
