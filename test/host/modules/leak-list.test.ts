import assert from "node:assert/strict";
import { closeSync, openSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import type { LeftOpen } from "../../../host/api/module.ts";
import { findLeaks } from "../../../host/modules/process/leak-report.ts";
import type { PluginProcess } from "../../../host/modules/process/plugin-process.ts";
import { ModuleLog, logLeaks } from "../../../host/modules/state/logs.ts";
import { collectedLog } from "../../helpers/collected-log.ts";
import { emptyFolder } from "../../helpers/folder.ts";

/** A process that answers this; a process id of 0 has no files. */
const processThat = (answer: () => unknown, pid = 0) => {
  const calls: unknown[][] = [];
  const call = async (...asked: unknown[]) => {
    calls.push(asked);
    return answer();
  };
  return { process: { pid, peer: { call } } as unknown as PluginProcess, calls };
};

test("resources opened at one place are one entry with their number and place", async (t) => {
  const folder = await emptyFolder(t);
  const file = join(folder, "index.ts");
  await writeFile(file, "one\ntwo\nthree\n");
  const at = (line: number) => ({
    kind: "timer",
    stack: ["at new Timer", `at start (${file}:${line}:1)`],
  });
  const { process, calls } = processThat(() => [at(2), at(2), at(3)]);

  const leaks = await findLeaks(process, folder);

  assert.deepEqual(
    leaks.map(({ kind, count, file: name, line }) => [kind, count, name, line]),
    [
      ["timer", 2, "index.ts", 2],
      ["timer", 1, "index.ts", 3],
    ],
  );
  assert.ok(!("path" in (leaks[0] ?? {})));
  assert.deepEqual(calls, [["findLeaks", {}, 500]]);
});

test("files that a process has open are leaks with their path, also if it does not answer", async (t) => {
  const path = join(await emptyFolder(t), "open.txt");
  await writeFile(path, "");
  const descriptor = openSync(path, "r");
  const answer = () => {
    throw new Error("it was late");
  };

  const leaks = await findLeaks(processThat(answer, process.pid).process, "/lamp");
  closeSync(descriptor);

  assert.deepEqual(
    leaks.filter((leak) => leak.path === path),
    [{ kind: "file", count: 1, path }],
  );
  assert.ok(leaks.every(({ kind }) => kind === "file"));
});

test("at most fifty files are in the list", async (t) => {
  const folder = await emptyFolder(t);
  const descriptors: number[] = [];
  for (let count = 0; count < 60; count++) {
    const path = join(folder, `${count}.txt`);
    await writeFile(path, "");
    descriptors.push(openSync(path, "r"));
  }

  const leaks = await findLeaks(processThat(() => [], process.pid).process, "/lamp");
  for (const descriptor of descriptors) closeSync(descriptor);

  assert.equal(
    leaks.reduce((sum, { count }) => sum + count, 0),
    50,
  );
});

test("a list at every limit is taken", async () => {
  const stack = Array.from({ length: 20 }, () => "x".repeat(4_096));
  const path = "y".repeat(4_096);
  const answer = Array.from({ length: 100 }, () => ({ kind: "timer", stack, path }));

  const leaks = await findLeaks(processThat(() => answer).process, "/lamp");

  assert.deepEqual(leaks, [{ kind: "timer", count: 100, path }]);
});

for (const [what, stack] of [
  ["more than 20 frames", Array.from({ length: 21 }, () => "")],
  ["a frame of 4,097 characters", ["x".repeat(4_097)]],
] as const) {
  test(`a list with a stack of ${what} is ignored`, async () => {
    const { process } = processThat(() => [{ kind: "timer", stack }]);

    assert.deepEqual(await findLeaks(process, "/lamp"), []);
  });
}

const SENTENCES: readonly (readonly [leak: LeftOpen, sentence: string])[] = [
  [
    { kind: "timer", count: 2, file: "index.ts", line: 12, column: 5, frame: "" },
    "2 x timer opened at index.ts:12:5",
  ],
  [{ kind: "timer", count: 1 }, "timer opened outside the plugin's own files"],
  [{ kind: "file", count: 3, path: "/tmp/a" }, "3 x file /tmp/a"],
];

test("leaks are a warning in the module's log, in words", () => {
  const log = collectedLog();

  logLeaks(
    SENTENCES.map(([leak]) => leak),
    new ModuleLog(log),
  );

  assert.deepEqual(log.records, [
    {
      level: "warn",
      sentence: "the old code left something open",
      fields: { leftOpen: SENTENCES.map(([, sentence]) => sentence) },
    },
  ]);
});

test("code that closed everything is not in the log", () => {
  const log = collectedLog();

  logLeaks([], new ModuleLog(log));

  assert.deepEqual(log.records, []);
});
