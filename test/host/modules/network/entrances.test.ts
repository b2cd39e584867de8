import assert from "node:assert/strict";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { dirname, join } from "node:path";
import { type TestContext, test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { EntranceSockets } from "../../../../host/modules/process/network/entrances.ts";
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

function open(t: TestContext): EntranceSockets {
  const sockets = new EntranceSockets();
  onTestEnd(t, async () => sockets.close());
  return sockets;
}

/** An entrance, and who came through it. */
function openEntrance(sockets: EntranceSockets) {
  const visits: string[] = [];
  const entrance = sockets.open({
    entered: (near) => (visits.push("entered"), near.destroy()),
    expired: () => visits.push("expired"),
  });
  const enter = async () => {
    const socket = connect(entrance.path);
    socket.on("error", () => undefined);
    await once(socket.resume(), "close");
  };
  return { ...entrance, visits, enter };
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
  const fits = new EntranceSockets();
  assert.ok(fits.folder.startsWith(`${longest}/`));
  fits.close();
  setTemporary(t, `${longest}y`);
  const { folder } = open(t);

  assert.ok(folder.startsWith("/tmp/mantel-net-"), folder);
});

test("an entrance is there before it is needed, and used again after a visit", async (t) => {
  const sockets = open(t);
  const ready = () => readdirSync(sockets.folder);
  assert.deepEqual(ready(), ["1"]);

  const first = openEntrance(sockets);
  await first.enter();
  const second = openEntrance(sockets);
  assert.equal(second.path, first.path);
  await second.enter();

  assert.deepEqual([first.visits, second.visits], [["entered"], ["entered"]]);
  assert.deepEqual(ready(), ["1"]);
});

test("of several entrances that were used, one is kept", async (t) => {
  const sockets = open(t);
  const [first, second] = [openEntrance(sockets), openEntrance(sockets)];
  assert.notEqual(first.path, second.path);
  await setImmediate();

  await first.enter();
  await second.enter();

  assert.deepEqual(readdirSync(sockets.folder), ["1"]);
});

test("an entrance that nobody uses expires after five seconds, and is not used again", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const sockets = open(t);
  const entrance = openEntrance(sockets);

  t.mock.timers.tick(4_999);
  assert.deepEqual(entrance.visits, []);
  t.mock.timers.tick(1);

  assert.deepEqual(entrance.visits, ["expired"]);
  assert.equal(existsSync(entrance.path), false);
  assert.notEqual(openEntrance(sockets).path, entrance.path);
});

test("a visit ends the wait", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const sockets = open(t);
  const entrance = openEntrance(sockets);
  await entrance.enter();

  t.mock.timers.tick(10_000);

  assert.deepEqual(entrance.visits, ["entered"]);
  assert.ok(existsSync(entrance.path));
});

test("a discarded entrance is closed without a visit, and not used again", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const sockets = open(t);
  const entrance = openEntrance(sockets);

  entrance.discard();
  entrance.discard();
  t.mock.timers.tick(10_000);

  assert.deepEqual([entrance.visits, existsSync(entrance.path)], [[], false]);
  assert.notEqual(openEntrance(sockets).path, entrance.path);
});

test("discarding after the visit leaves the entrance to the next one", async (t) => {
  const sockets = open(t);
  const first = openEntrance(sockets);
  await first.enter();
  const second = openEntrance(sockets);

  first.discard();
  await second.enter();

  assert.deepEqual([second.path, second.visits], [first.path, ["entered"]]);
});

test("nobody enters where nobody is expected", async (t) => {
  const sockets = open(t);
  const first = openEntrance(sockets);
  await first.enter();

  await first.enter();

  assert.deepEqual(first.visits, ["entered"]);
});

test("an entrance that cannot be made expires", async (t) => {
  const sockets = open(t);
  openEntrance(sockets);
  writeFileSync(join(sockets.folder, "2"), ""); // in the place of the second one

  const { visits } = openEntrance(sockets);
  for (let turn = 0; turn < 10 && visits.length === 0; turn++) await setImmediate();

  assert.deepEqual(visits, ["expired"]);
});

test("closing closes all entrances, also those that wait", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const sockets = open(t);
  const entrance = openEntrance(sockets);

  sockets.close();
  t.mock.timers.tick(10_000);

  assert.deepEqual([entrance.visits, existsSync(sockets.folder)], [[], false]);
});
