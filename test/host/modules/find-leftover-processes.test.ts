import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import {
  killGroup,
  killProcessesOfEarlierHosts,
  killProcessesWithMark,
} from "../../../host/modules/process/leftover-processes.ts";
import { fakeSystemFiles } from "../../helpers/system-files.ts";

const DATA = "/srv/mantel";
const MARK = "MANTEL_GENERATION=a1";

/** Processes as the kernel lists them. Nothing is killed: the ids are noted, a negative one is a group. */
async function openProcesses(t: TestContext, files: Parameters<typeof fakeSystemFiles>[2] = {}) {
  const proc = await fakeSystemFiles(t, "/proc", files);
  const killed: number[] = [];
  const parts = { onKill: (pid: number): void => proc.remove(String(pid)) };
  t.mock.method(process, "kill", (pid: number, signal: unknown) => {
    assert.equal(signal, "SIGKILL");
    killed.push(pid);
    parts.onKill(pid);
    return true;
  });
  return { ...proc, killed, parts };
}

const environment = (...variables: string[]) => variables.map((each) => `${each}\0`).join("");

test("every process with the mark is killed, and no other", async (t) => {
  const { killed } = await openProcesses(t, {
    "5/environ": environment(MARK, "PATH=/bin"),
    "6/environ": environment("PATH=/bin", MARK),
    "7/environ": environment(`${MARK}b`),
    "8/environ": environment(`X${MARK}`),
    "9/environ": environment("NOTE=it has", "MANTEL_GENERATION=b2"),
    "sys/environ": environment(MARK),
  });

  killProcessesWithMark(MARK);

  assert.deepEqual(killed, [5, 6]);
});

test("programs that are started during the search are found, up to five times", async (t) => {
  const { killed, parts, remove, write } = await openProcesses(t, {
    "5/environ": environment(MARK),
  });
  parts.onKill = (pid) => {
    remove(String(pid));
    write(`${pid + 1}/environ`, environment(MARK));
  };

  killProcessesWithMark(MARK);

  assert.deepEqual(killed, [5, 6, 7, 8, 9]);
});

test("a process that ends by itself is not a failure, and the others are killed", async (t) => {
  const { killed, parts, remove } = await openProcesses(t, {
    "5/environ": environment(MARK),
    "6/environ": environment(MARK),
  });
  parts.onKill = (pid) => {
    remove(String(pid));
    throw Object.assign(new Error("kill ESRCH"), { code: "ESRCH" });
  };

  killProcessesWithMark(MARK);
  killGroup(5);

  assert.deepEqual(killed, [5, 6, -5]);
});

test("a group is killed with all its processes, and the unknown group 0 is not: it is the host's own", async (t) => {
  const { killed } = await openProcesses(t);

  killGroup(0);
  killGroup(-1);
  killGroup(1_234);

  assert.deepEqual(killed, [-1_234]);
});

const NODE = process.execPath;
/** A plugin's process without a mark, whose title is the one of the runtime. */
const plugin = (pid: number, parts: { cwd?: string; exe?: string; command?: string } = {}) => ({
  [`${pid}/cwd`]: { link: parts.cwd ?? `${DATA}/plugins/lamp` },
  [`${pid}/exe`]: { link: parts.exe ?? NODE },
  [`${pid}/cmdline`]: parts.command ?? "mantel lamp\0",
});
const marked = (temporary: string, mark = MARK) => environment(mark, `TMPDIR=${temporary}`);

const LISTED: readonly (readonly [
  what: string,
  files: Parameters<typeof fakeSystemFiles>[2],
  count: number,
])[] = [
  [
    "a process with a mark and its storage as temporary folder",
    { "5/environ": marked(`${DATA}/plugins/lamp`) },
    1,
  ],
  ["a process with a mark of another home", { "5/environ": marked("/srv/other/plugins/lamp") }, 0],
  [
    "a process with a mark and the folder beside the storage",
    { "5/environ": marked(`${DATA}/plugins-old/lamp`) },
    0,
  ],
  [
    "a process in the storage without a mark",
    { "5/environ": marked(`${DATA}/plugins/lamp`, "A=1") },
    0,
  ],
  ["Node with the title of a plugin", plugin(5), 1],
  ["Node in a folder of the storage", plugin(5, { cwd: `${DATA}/plugins/lamp/pictures` }), 1],
  ["Node in the folder of all plugins", plugin(5, { cwd: `${DATA}/plugins` }), 1],
  [
    "Node that runs the runtime",
    plugin(5, { command: "node\0--permission\0/x/runtime-0a9f/start.cjs\0" }),
    1,
  ],
  ["Node that runs another file", plugin(5, { command: "node\0/x/runtime-list/start.cjs\0" }), 0],
  [
    "Node with a name like the runtime",
    plugin(5, { command: "node\0/x/runtime-0a9f/start.cjs.bak\0" }),
    0,
  ],
  ["Node whose arguments name Mantel", plugin(5, { command: "node\0mantel lamp\0" }), 0],
  ["a shell in the storage", plugin(5, { exe: "/bin/bash" }), 0],
  ["Node of another home", plugin(5, { cwd: "/srv/other/plugins/lamp" }), 0],
  ["Node in a folder beside the storage", plugin(5, { cwd: `${DATA}/plugins-old` }), 0],
  ["a process that has ended", { "5/comm": "node" }, 0],
  ["two processes", { ...plugin(5), ...plugin(6) }, 2],
  ["a name that is not a number", { "self/environ": marked(`${DATA}/plugins/lamp`) }, 0],
];

for (const [what, files, count] of LISTED) {
  test(`of ${what}, a new host kills ${count}`, async (t) => {
    const { killed } = await openProcesses(t, files);

    assert.equal(killProcessesOfEarlierHosts(DATA), count);

    const expected = [5, 6].slice(0, count).flatMap((pid) => [-pid, pid]);
    assert.deepEqual(killed, expected);
  });
}

test("a system without /proc has no leftover processes that can be found", async (t) => {
  const { killed, remove } = await openProcesses(t);
  remove("");

  assert.equal(killProcessesOfEarlierHosts(DATA), 0);
  killProcessesWithMark(MARK);

  assert.deepEqual(killed, []);
});
