import assert from "node:assert/strict";
import fs, { existsSync, mkdirSync, readFileSync, unlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type TestContext, test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { Cgroup, Cgroups } from "../../../../host/modules/process/sandbox/cgroup.ts";
import { emptyFolder } from "../../../helpers/folder.ts";
import { showToImports } from "../../../helpers/mocked-imports.ts";
import { fakeSystemFiles } from "../../../helpers/system-files.ts";

const LIMITS = { memoryBytes: 2 ** 28, tasks: 512, cpuPercent: 150 };
const MIB_256 = String(2 ** 28);

/** A line of /proc/self/mountinfo (proc(5)). */
const mount = (at: string, type: string, { root = "/", options = "rw" } = {}) =>
  `30 23 0:26 ${root} ${at} rw,nosuid shared:4 - ${type} cgroup ${options}`;

/** Lets this process be in these groups, of hierarchies that are mounted there. */
async function inGroups(t: TestContext, mounts: readonly string[], groups: readonly string[]) {
  const self = { "self/mountinfo": mounts.join("\n"), "self/cgroup": `${groups.join("\n")}\n` };
  const running = { "4242/stat": "", [`${process.pid}/stat`]: "" };
  return fakeSystemFiles(t, "/proc", { ...self, ...running });
}

/** As the kernel does, `rmdir` removes a group with its files, but not with groups in it or processes that are left. */
function kernelRemoves(t: TestContext): void {
  const original = fs.rmdirSync;
  const { rmdir } = fs.promises;
  const isGroup = (path: string) => fs.statSync(path).isDirectory();
  const remove = (path: string) => {
    if (!existsSync(path)) return original(path);
    const names = fs.readdirSync(path).map((name) => join(path, name));
    if (names.some(isGroup) || existsSync(join(path, "busy")))
      throw Object.assign(new Error("EBUSY"), { code: "EBUSY" });
    fs.rmSync(path, { recursive: true });
  };
  fs.rmdirSync = remove as typeof original;
  fs.promises.rmdir = (async (path: string) => remove(path)) as typeof rmdir;
  showToImports(t, () => {
    fs.rmdirSync = original;
    fs.promises.rmdir = rmdir;
  });
}

/** Lets the mocked time pass, and then what it has begun. */
async function tick(t: TestContext, ms: number): Promise<void> {
  t.mock.timers.tick(ms);
  await setImmediate();
}

const text = (...path: readonly string[]) => readFileSync(join(...path), "utf8");

/** Control groups version 2, with the group of this process and its process 17. */
async function openUnified(t: TestContext, offered = "cpuset cpu io memory pids") {
  const at = await emptyFolder(t);
  const own = join(at, "mantel.service");
  mkdirSync(own);
  writeFileSync(join(own, "cgroup.controllers"), `${offered}\n`);
  writeFileSync(join(own, "cgroup.procs"), "17\n");
  await inGroups(t, [mount("/x", "ext4"), mount(at, "cgroup2")], ["0::/mantel.service"]);
  kernelRemoves(t);
  return { own, parent: join(own, `mantel-${process.pid}`) };
}

/** Control groups version 1, with a tree for memory, one for tasks, and one for two kinds of CPU figures. */
async function openSeparate(t: TestContext) {
  const at = await emptyFolder(t);
  for (const name of ["memory", "pids", "cpu"])
    mkdirSync(join(at, name, "home"), { recursive: true });
  const mounts = [
    mount(join(at, "wrong"), "tmpfs", { options: "rw,memory,pids,cpu" }),
    mount(join(at, "memory"), "cgroup", { options: "rw,memory" }),
    mount(join(at, "pids"), "cgroup", { options: "rw,pids" }),
    mount(join(at, "cpu"), "cgroup", { options: "rw,cpu,cpuacct" }),
  ];
  const groups = ["12:memory:/home", "11:pids:/home", "3:cpu,cpuacct:/home", "1:name=systemd:/x"];
  await inGroups(t, mounts, groups);
  kernelRemoves(t);
  const parents = ["memory", "pids", "cpu"].map((name) =>
    join(at, name, "home", `mantel-${process.pid}`),
  );
  const [memory = "", pids = "", cpu = ""] = parents;
  return { at, memory, pids, cpu };
}

test("with version 2, a plugin's group limits memory, tasks and CPU time, and a process joins it by one file", async (t) => {
  const { own, parent } = await openUnified(t);

  const group = Cgroups.open()?.create(LIMITS);

  assert.deepEqual(group?.joinFiles, [join(parent, "1/cgroup.procs")]);
  assert.equal(text(parent, "1/memory.max"), MIB_256);
  assert.equal(text(parent, "1/pids.max"), "512");
  assert.equal(text(parent, "1/cpu.max"), "150000 100000");
  assert.equal(existsSync(join(parent, "1/memory.limit_in_bytes")), false);
  assert.equal(text(own, "cgroup.subtree_control"), "+memory +pids +cpu");
  assert.equal(text(parent, "cgroup.subtree_control"), "+memory +pids +cpu");
});

test("with version 2, the host's own processes move into a group without children", async (t) => {
  const { own } = await openUnified(t);

  Cgroups.open();

  assert.equal(text(own, "mantel-host/cgroup.procs"), "17");
});

test("a host that opens its groups again, as after a failed start, keeps using them", async (t) => {
  const { parent } = await openUnified(t);
  Cgroups.open();

  const group = Cgroups.open()?.create(LIMITS);

  assert.deepEqual(group?.joinFiles, [join(parent, "1/cgroup.procs")]);
});

for (const [what, offered] of [
  ["no memory limit", "cpu pids"],
  ["no task limit", "cpu memory"],
  ["no CPU limit", "memory pids cpuset"],
  ["no controller", ""],
] as const) {
  test(`a system that offers ${what} to this user has no control groups`, async (t) => {
    const { own } = await openUnified(t, offered);

    assert.equal(Cgroups.open(), undefined);

    assert.equal(existsSync(join(own, "mantel-host")), false);
  });
}

test("with version 1, each kind of limit has a group of its own, and a process joins all of them", async (t) => {
  const { memory, pids, cpu } = await openSeparate(t);

  const group = Cgroups.open()?.create(LIMITS);

  const folders = [memory, pids, cpu].map((parent) => join(parent, "1"));
  assert.deepEqual(
    group?.joinFiles,
    folders.map((folder) => join(folder, "cgroup.procs")),
  );
  assert.equal(text(memory, "1/memory.limit_in_bytes"), MIB_256);
  assert.equal(text(pids, "1/pids.max"), "512");
  assert.equal(text(cpu, "1/cpu.cfs_quota_us"), "150000");
  assert.equal(existsSync(join(memory, "1/memory.max")), false);
});

test("a system with version 1 and without one of the limits has no control groups", async (t) => {
  const at = await emptyFolder(t);
  const mounts = ["memory", "pids"].map((name) =>
    mount(join(at, name), "cgroup", { options: name }),
  );
  await inGroups(t, mounts, ["12:memory:/", "11:pids:/", "3:cpu:/"]);

  assert.equal(Cgroups.open(), undefined);

  assert.deepEqual(fs.readdirSync(at), []);
});

test("a system without control groups has none", async (t) => {
  await inGroups(t, [mount("/x", "ext4")], ["0::/mantel.service", ""]);
  assert.equal(Cgroups.open(), undefined);

  await fakeSystemFiles(t, "/proc", {});
  assert.equal(Cgroups.open(), undefined);
});

test("a user who may not create control groups has none", async (t) => {
  const { own } = await openUnified(t);
  writeFileSync(join(own, "mantel-host"), "no folder can be made here");

  assert.equal(Cgroups.open(), undefined);
});

test("in a container, the own group is found below the folder that the container sees", async (t) => {
  const at = await emptyFolder(t);
  mkdirSync(join(at, "app"));
  writeFileSync(join(at, "app/cgroup.controllers"), "cpu memory pids");
  const mounts = [mount(at, "cgroup2", { root: "/docker/a1" })];
  await inGroups(t, mounts, ["0::/docker/a1/app"]);

  const group = Cgroups.open()?.create(LIMITS);

  assert.deepEqual(group?.joinFiles, [join(at, `app/mantel-${process.pid}/1/cgroup.procs`)]);
});

test("each group has a folder of its own, and closing removes them with that of the host", async (t) => {
  const { parent } = await openUnified(t);
  const cgroups = Cgroups.open();

  const groups = [cgroups?.create(LIMITS), cgroups?.create(LIMITS)];
  assert.deepEqual(
    groups.flatMap((group) => group?.joinFiles),
    ["1", "2"].map((name) => join(parent, name, "cgroup.procs")),
  );
  await cgroups?.close();

  assert.equal(existsSync(parent), false);
  await cgroups?.close(); // also if something else has removed them
});

test("a group that waits for its last process to end does not take one of a restarted host with it", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const { parent } = await openUnified(t);
  const before = Cgroups.open();
  const old = before?.create(LIMITS);
  writeFileSync(join(parent, "1/busy"), "");
  await old?.remove();
  unlinkSync(join(parent, "1/busy"));
  await before?.close();

  const group = Cgroups.open()?.create(LIMITS);
  await tick(t, 100);

  const [joinFile = ""] = group?.joinFiles ?? [];
  assert.equal(existsSync(dirname(joinFile)), true, joinFile);
});

test("closing removes the groups of every tree of version 1", async (t) => {
  const { memory, pids, cpu } = await openSeparate(t);
  const cgroups = Cgroups.open();
  cgroups?.create(LIMITS);

  await cgroups?.close();

  assert.deepEqual([memory, pids, cpu].map(existsSync), [false, false, false]);
});

test("a group that cannot be created leaves nothing behind", async (t) => {
  const { parent } = await openUnified(t);
  const cgroups = Cgroups.open();
  mkdirSync(join(parent, "1"));
  mkdirSync(join(parent, "2"));
  writeFileSync(join(parent, "2/busy"), ""); // as if a process were in it
  t.mock.timers.enable({ apis: ["setTimeout"] });

  assert.equal(cgroups?.create(LIMITS), undefined);
  assert.equal(cgroups?.create(LIMITS), undefined);
  await setImmediate();

  assert.deepEqual(
    ["1", "2", "3"].map((name) => existsSync(join(parent, name))),
    [false, true, false],
  );
  fs.rmSync(join(parent, "2/busy"));
  await tick(t, 60_000);
  assert.ok(existsSync(join(parent, "2"))); // it is tried once
  assert.ok(cgroups?.create(LIMITS));
});

test("opening removes the groups of hosts that have ended, and no others", async (t) => {
  const { own } = await openUnified(t);
  const kept = ["mantel-4242", "mantel-", "mantel-0", "mantel-x7", "other-7", "mantelx7"];
  for (const name of ["mantel-7/1", "mantel-7/2", "mantel-8", ...kept])
    mkdirSync(join(own, name), { recursive: true });

  Cgroups.open();

  const names = fs.readdirSync(own, { withFileTypes: true }).filter((each) => each.isDirectory());
  const expected = [...kept, "mantel-host", `mantel-${process.pid}`];
  assert.deepEqual(names.map(({ name }) => name).toSorted(), expected.toSorted());
});

test("a group is removed as soon as its last process has ended", async (t) => {
  const { parent } = await openUnified(t);
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const group = Cgroups.open()?.create(LIMITS);
  const busy = join(parent, "1/busy");
  writeFileSync(busy, "");

  await group?.remove();
  await tick(t, 100);
  assert.ok(existsSync(join(parent, "1")));
  fs.rmSync(busy);
  await tick(t, 99);
  assert.ok(existsSync(join(parent, "1")));
  await tick(t, 1);

  assert.equal(existsSync(join(parent, "1")), false);
});

test("a group whose processes never end is left alone after two seconds", async (t) => {
  const { parent } = await openUnified(t);
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const group = Cgroups.open()?.create(LIMITS);
  const busy = join(parent, "1/busy");
  writeFileSync(busy, "");

  await group?.remove();
  for (let times = 0; times < 20; times++) await tick(t, 100);
  fs.rmSync(busy);
  await tick(t, 60_000);

  assert.ok(existsSync(join(parent, "1")));
});

for (const [events, isOut] of [
  [{ "memory.events": "low 0\nhigh 3\noom 1\noom_kill 1\n" }, true],
  [{ "memory.events": "low 0\nhigh 3\noom 4\noom_kill 0\noom_group_kill 2\n" }, false],
  [{ "memory.oom_control": "oom_kill_disable 0\nunder_oom 0\noom_kill 12\n" }, true],
  [{ "memory.oom_control": "oom_kill_disable 1\nunder_oom 1\noom_kill 0\n" }, false],
  [{}, false],
] as const) {
  test(`the kernel ${isOut ? "killed" : "did not kill"} for memory, by ${JSON.stringify(events)}`, async (t) => {
    const folder = await emptyFolder(t);
    for (const [name, content] of Object.entries(events))
      writeFileSync(join(folder, name), content);
    const elsewhere = await emptyFolder(t);

    const group = new Cgroup({ memory: folder, pids: elsewhere, cpu: elsewhere });

    assert.equal(group.wasOutOfMemory, isOut);
  });
}
