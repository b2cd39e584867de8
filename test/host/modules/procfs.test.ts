import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import {
  countProcesses,
  countThreads,
  deletedFiles,
  findChild,
  namespaceOf,
  newestProcesses,
  openFiles,
  readEnvironment,
  readMemoryAndDescriptors,
  readProcess,
} from "../../../host/modules/process/procfs.ts";
import { DISK, emptyFolder } from "../../helpers/folder.ts";
import { fakeSystemFiles } from "../../helpers/system-files.ts";

/** proc(5): fields 14 to 17 are CPU time in ticks: user, system, and both of awaited children. */
const stat = (pid: number, { name = "node", state = "S", parent = 1, group = pid } = {}) =>
  `${pid} (${name}) ${state} ${parent} ${group} 5 0 -1 4194560 90 91 92 93 10 20 3 4 20 0 11 0\n`;

const fakeProc = (t: TestContext, files: Parameters<typeof fakeSystemFiles>[2]) =>
  fakeSystemFiles(t, "/proc", files);

test("the state of a process has its parent, its group, and the CPU time of itself and its awaited children", async (t) => {
  await fakeProc(t, { "7/stat": stat(7, { state: "T", parent: 3, group: 6 }) });

  assert.deepEqual(readProcess(7), { state: "T", parent: 3, group: 6, cpuMs: 370 });
});

test("a process may have brackets and spaces in its name", async (t) => {
  await fakeProc(t, { "7/stat": stat(7, { name: "a) R (b c", state: "D", parent: 3 }) });

  assert.deepEqual(readProcess(7), { state: "D", parent: 3, group: 7, cpuMs: 370 });
});

test("a process that has ended has neither state, CPU time, memory, environment, files nor children", async (t) => {
  await fakeProc(t, {});

  assert.deepEqual(readProcess(7), { state: "", parent: 0, group: 0, cpuMs: 0 });
  assert.deepEqual(readMemoryAndDescriptors(7), { memoryBytes: 0, descriptors: 0 });
  assert.equal(readEnvironment(7), "\0");
  assert.equal(namespaceOf(7), "");
  assert.deepEqual(openFiles(7), []);
  assert.deepEqual(deletedFiles(7), []);
  assert.equal(findChild(7), undefined);
  assert.equal(countThreads(), 0);
  assert.deepEqual(newestProcesses(), []);
});

test("memory is the private part, in bytes, and descriptors are the allocated slots", async (t) => {
  const status =
    "Name:\tnode\nFDSize:\t256\nVmRSS:\t   90000 kB\nRssAnon:\t   40960 kB\nRssFile:\t 512 kB\n";
  await fakeProc(t, { "7/status": status });

  assert.deepEqual(readMemoryAndDescriptors(7), { memoryBytes: 40 * 2 ** 20, descriptors: 256 });
});

test("a process named like a figure changes none of its figures", async (t) => {
  const status = "Name:\tRssAnon: 1 kB FDSize: 9\nFDSize:\t64\nRssAnon:\t8 kB\n";
  await fakeProc(t, { "7/status": status });

  assert.deepEqual(readMemoryAndDescriptors(7), { memoryBytes: 8_192, descriptors: 64 });
});

test("threads of the whole system are counted", async (t) => {
  await fakeProc(t, { loadavg: "0.52 0.41 0.40 2/1234 99\n" });

  assert.equal(countThreads(), 1_234);
});

test("processes are counted by group and by namespace, without those that ended and were not awaited", async (t) => {
  await fakeProc(t, {
    "1/stat": stat(1),
    "1/ns/pid": { link: "pid:[1]" },
    "7/stat": stat(7),
    "7/ns/pid": { link: "pid:[2]" },
    "8/stat": stat(8, { group: 7 }),
    "8/ns/pid": { link: "pid:[2]" },
    "9/stat": stat(9, { group: 7, state: "Z" }),
    "9/ns/pid": { link: "pid:[2]" },
    "self/ns/pid": { link: "pid:[1]" },
    meminfo: "",
  });

  const { groups, namespaces } = countProcesses();

  assert.deepEqual(Object.fromEntries(groups), { 1: 1, 7: 2 });
  assert.deepEqual(Object.fromEntries(namespaces), { "pid:[1]": 1, "pid:[2]": 2 });
  assert.equal(namespaceOf("self"), "pid:[1]");
});

test("of very many processes, the thousand with the highest ids are examined", async (t) => {
  const pids = Array.from({ length: 1_010 }, (_, at) => 9_500 + at);
  const folders = [...pids.map((pid) => `${pid}/x`), "sys/x", "12a/x", "a12/x"];
  await fakeProc(t, Object.fromEntries(folders.map((path) => [path, ""])));

  assert.deepEqual(newestProcesses(), pids.slice(10));
});

test("the environment of a process has a NUL before each variable, and any byte", async (t) => {
  await fakeProc(t, { "7/environ": "A=1\0B=\u00ff\0" });

  assert.equal(readEnvironment(7), "\0A=1\0B=\u00ff\0");
});

test("open files are listed without devices, kernel files, sockets and pipes", async (t) => {
  await fakeProc(t, {
    "7/fd/0": { link: "/dev/null" },
    "7/fd/1": { link: "pipe:[5]" },
    "7/fd/2": { link: "socket:[6]" },
    "7/fd/3": { link: "/home/lamp/notes.txt" },
    "7/fd/4": { link: "/proc/7/stat" },
    "7/fd/5": { link: "anon_inode:[eventpoll]" },
    "7/fd/6": { link: "/devices.json" },
    "7/fd/7": { link: "/home/dev/x" },
    "7/fd/8": { link: "/dev/shm/x" },
  });

  const files = ["/home/lamp/notes.txt", "/devices.json", "/home/dev/x", "/dev/shm/x"];
  assert.deepEqual(openFiles(7), files);
});

test("deleted files are listed with their size, without those in memory and on devices", async (t) => {
  const folder = await emptyFolder(t, DISK);
  const names = ["kept", "gone (deleted)"] as const;
  for (const name of names) await writeFile(join(folder, name), name);
  await fakeProc(t, {
    "7/fd/0": { link: join(folder, names[0]) },
    "7/fd/1": { link: join(folder, names[1]) },
    "7/fd/2": { link: "/dev/shm/x (deleted)" },
    "7/fd/3": { link: "/memfd:x (deleted)" },
    "7/fd/4": { link: join(folder, "closed just now (deleted)") },
  });

  assert.deepEqual(
    deletedFiles(7).map(({ size }) => size),
    [names[1].length],
  );
});

test("the first child is the first one that the kernel lists", async (t) => {
  await fakeProc(t, { "7/task/7/children": "12 9 ", "9/stat": stat(9, { parent: 7 }) });

  assert.equal(findChild(7), 12);
});

test("a process whose list is empty has no child yet, and no other process is examined", async (t) => {
  await fakeProc(t, { "7/task/7/children": "", "9/stat": stat(9, { parent: 7 }) });

  assert.equal(findChild(7), undefined);
});

test("with a kernel that lists no children, the child is found by its parent", async (t) => {
  await fakeProc(t, {
    "8/stat": stat(8, { parent: 1 }),
    "9/stat": stat(9, { parent: 7 }),
    "7/stat": stat(7),
  });

  assert.equal(findChild(7), 9);
  assert.equal(findChild(8), undefined);
});
