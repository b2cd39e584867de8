import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { fstatSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { promisify } from "node:util";
import type { Cgroups } from "../../../../host/modules/process/sandbox/cgroup.ts";
import { Kernel } from "../../../../host/modules/process/sandbox/kernel.ts";
import { emptyFolder } from "../../../helpers/folder.ts";
import { onTestEnd } from "../../../helpers/on-test-end.ts";

const run = promisify(execFile);
const LIMITS = { memoryBytes: 2 ** 28, tasks: 512, cpuPercent: 200 };
const CONTENTS = { readable: [], writable: [], hasOpenNetwork: false, hasPrograms: false };
/** Prints its arguments, one a line. */
const PRINT = ["/bin/sh", "-c", 'for each; do echo "$each"; done', "sh", "one two", "three"];

/** Control groups of which one is made of these files. */
function groupsOf(joinFiles: readonly string[] | undefined) {
  const limits: unknown[] = [];
  const steps: string[] = [];
  const cgroup = joinFiles && { joinFiles };
  const cgroups = {
    create: (given: unknown) => (limits.push(given), cgroup),
    close: () => void steps.push("closed"),
  };
  return { limits, steps, cgroup, cgroups: cgroups as unknown as Cgroups };
}

/** A bubblewrap that leaves out its own arguments, and executes the command. */
async function openBubblewrap(t: TestContext) {
  const home = await emptyFolder(t);
  const program = join(home, "bwrap");
  const script = '#!/bin/sh\nwhile [ "$1" != -- ]; do shift; done\nshift\nexec "$@"\n';
  writeFileSync(program, script, { mode: 0o755 });
  const bubblewrap = { program, filter: Buffer.from("filter"), folder: join(home, "sandbox") };
  return { home, bubblewrap };
}

test("a command in a sandbox gets the filter as its fourth descriptor, until it has been spawned", async (t) => {
  const { bubblewrap } = await openBubblewrap(t);
  const kernel = new Kernel({ bubblewrap, reason: null });

  const launch = kernel.launch(PRINT, CONTENTS, LIMITS);
  assert.ok(launch);
  const [filter, info] = launch.stdio;
  assert.equal(readFileSync(filter as number, "utf8"), "filter");
  launch.release();

  assert.throws(() => fstatSync(filter as number), { code: "EBADF" });
  assert.equal(info, "pipe");
  assert.equal(launch.program, bubblewrap.program);
  assert.equal(launch.arguments[0], "--unshare-user");
  assert.deepEqual(launch.arguments.slice(-PRINT.length - 1), ["--", ...PRINT]);
  assert.equal(launch.cgroup, undefined);
});

test("a command with a control group joins each of its files, and then runs with its own arguments", async (t) => {
  const { home, bubblewrap } = await openBubblewrap(t);
  const files = ["a b", "c"].map((name) => join(home, name));
  const { cgroups, cgroup, limits } = groupsOf(files);
  const kernel = new Kernel({ bubblewrap, reason: null }, cgroups);

  const launch = kernel.launch(PRINT, CONTENTS, LIMITS);
  assert.ok(launch);
  const { stdout } = await run(launch.program, launch.arguments);
  launch.release();

  assert.equal(stdout, "one two\nthree\n");
  assert.deepEqual(
    files.map((file) => readFileSync(file, "utf8")),
    ["0\n", "0\n"],
  );
  assert.equal(launch.cgroup, cgroup);
  assert.deepEqual(limits, [LIMITS]);
});

test("a command that cannot join its control group does not run", async (t) => {
  const { home, bubblewrap } = await openBubblewrap(t);
  const { cgroups } = groupsOf([join(home, "missing/cgroup.procs")]);

  const launch = new Kernel({ bubblewrap, reason: null }, cgroups).launch(PRINT, CONTENTS, LIMITS);
  assert.ok(launch);
  const failure = await run(launch.program, launch.arguments).catch((error: unknown) => error);
  launch.release();

  const { code, stdout } = failure as { code: unknown; stdout: string };
  assert.deepEqual([code, stdout], [125, ""]);
});

test("a command runs without control group if none can be created", async (t) => {
  const { bubblewrap } = await openBubblewrap(t);
  const { cgroups } = groupsOf(undefined);

  const launch = new Kernel({ bubblewrap, reason: null }, cgroups).launch(PRINT, CONTENTS, LIMITS);
  assert.ok(launch);
  launch.release();

  assert.deepEqual([launch.program, launch.cgroup], [bubblewrap.program, undefined]);
});

test("without bubblewrap there are no sandboxes, and reason and remedy say why", async () => {
  const unsupported = { bubblewrap: undefined, reason: "it is missing", remedy: "install it" };
  const kernel = new Kernel(unsupported);

  assert.equal(kernel.launch(PRINT, CONTENTS, LIMITS), undefined);
  assert.deepEqual([kernel.reason, kernel.remedy], ["it is missing", "install it"]);
  assert.equal(kernel.hasLimits, false);
  await kernel.close();
});

test("with bubblewrap there is no reason and no remedy, and closing closes the control groups", async (t) => {
  const { bubblewrap } = await openBubblewrap(t);
  const { cgroups, steps } = groupsOf([]);
  const kernel = new Kernel({ bubblewrap, reason: null }, cgroups);

  assert.deepEqual([kernel.reason, kernel.remedy, kernel.hasLimits], [null, undefined, true]);
  await kernel.close();

  assert.deepEqual(steps, ["closed"]);
});

test("a machine without bubblewrap is found to have none, and gets no control groups", async (t) => {
  const home = await emptyFolder(t);
  mkdirSync(join(home, "programs"));
  const path = process.env["PATH"];
  process.env["PATH"] = join(home, "programs");
  onTestEnd(t, async () => void (process.env["PATH"] = path));

  const kernel = await Kernel.open(join(home, "cache"));

  assert.equal(kernel.launch(PRINT, CONTENTS, LIMITS), undefined);
  assert.equal(kernel.hasLimits, false);
});
