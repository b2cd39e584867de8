import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { PluginProcess } from "../../../host/modules/process/plugin-process.ts";
import { Kernel } from "../../../host/modules/process/sandbox/kernel.ts";
import { type WarmSettings, WarmProcessPool } from "../../../host/modules/process/warm-process.ts";
import { onTestEnd } from "../../helpers/on-test-end.ts";
import { fakeSystemFiles } from "../../helpers/system-files.ts";

const WANTED: WarmSettings = {
  settings: {
    memoryMiB: 64,
    cpuPercent: 50,
    childProcesses: false,
    folder: "/lamp",
    flags: ["--permission"],
    sandbox: { readable: [], writable: [], hasOpenNetwork: false, hasPrograms: false },
    network: "none",
    hosts: [],
  },
  packages: {
    id: "lamp",
    folder: "/lamp",
    compiled: "/compiled",
    vendor: undefined,
    dataFolder: "/data",
    permissions: {},
    network: "none",
  },
};
const larger: WarmSettings = { ...WANTED, settings: { ...WANTED.settings, memoryMiB: 128 } };
const updated: WarmSettings = { ...WANTED, packages: { ...WANTED.packages, vendor: "/vendor/1" } };

/** A pool whose processes are none: they are named `1`, `2` and so on, and note what happens to them. */
async function openPool(t: TestContext) {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const proc = await fakeSystemFiles(t, "/proc", {});
  const steps: string[] = [];
  const forks: unknown[][] = [];
  const calls: unknown[][] = [];
  const exits: (() => void)[] = [];
  const parts = { prepare: async (): Promise<unknown> => undefined };
  const kernel = new Kernel({ bubblewrap: undefined, reason: "nothing is started", remedy: "" });
  t.mock.method(PluginProcess, "fork", (runtime: string, settings: object, ...rest: unknown[]) => {
    forks.push([runtime, settings, ...rest]);
    const name = forks.length;
    let exit = (): void => undefined;
    const exited = new Promise<void>((resolve) => (exit = resolve));
    exits.push(exit);
    return {
      name,
      pid: name,
      settings,
      exited,
      peer: {
        call: (...call: unknown[]) => {
          calls.push(call);
          return parts.prepare();
        },
      },
      end: async (cause: string) => void steps.push(`${name} ended: ${cause}`),
      terminate: async () => void steps.push(`${name} terminated`),
    };
  });
  onTestEnd(t, async () => {
    for (const exit of exits) exit();
    await setImmediate();
  });
  const pool = new WarmProcessPool(kernel);
  await pool.renew("/runtime-1");
  const nameOf = (generation: PluginProcess | undefined) =>
    (generation as { name: number } | undefined)?.name;
  return {
    pool,
    kernel,
    proc,
    steps,
    forks,
    calls,
    exits,
    parts,
    take: (wanted = WANTED) => nameOf(pool.take(wanted)),
    warm: (wanted = WANTED) => nameOf(pool.warm(wanted)),
    debug: () => nameOf(pool.debuggable(WANTED.settings, 9_229)),
  };
}

test("without a warm process, a new one is started from the runtime", async (t) => {
  const { take, forks, kernel, calls } = await openPool(t);

  assert.equal(take(), 1);

  assert.deepEqual(forks, [["/runtime-1", WANTED.settings, kernel, undefined]]);
  assert.deepEqual(calls, []);
});

test("a warm process loads the packages, and is taken once", async (t) => {
  const { take, warm, calls, steps } = await openPool(t);

  assert.equal(warm(), 1);
  assert.deepEqual(calls, [["prepare", WANTED.packages, 5_000]]);
  assert.deepEqual([take(structuredClone(WANTED)), take()], [1, 2]);

  assert.deepEqual(steps, []);
});

test("a warm process that no reload takes within two minutes is ended, and one that was taken is not", async (t) => {
  const { take, warm, steps, exits } = await openPool(t);
  warm();
  t.mock.timers.tick(60_000);
  take();
  warm();
  t.mock.timers.tick(119_999);
  assert.deepEqual(steps, []);

  t.mock.timers.tick(1);

  assert.deepEqual(steps, ["2 terminated"]);
  exits[1]?.();
  await setImmediate();
  assert.equal(warm(), 3);
});

test("a warm process that fits is not started twice", async (t) => {
  const { warm, forks } = await openPool(t);

  assert.deepEqual([warm(), warm(structuredClone(WANTED))], [1, undefined]);

  assert.equal(forks.length, 1);
});

for (const [what, wanted] of [
  ["other settings", larger],
  ["other packages", updated],
] as const) {
  test(`a warm process with ${what} is neither taken nor kept beside a new one`, async (t) => {
    const { take, warm, steps } = await openPool(t);
    warm();

    assert.equal(take(wanted), 2);
    assert.deepEqual(steps, []);
    assert.equal(warm(wanted), 3);
    assert.deepEqual(steps, ["1 terminated"]);

    assert.equal(take(wanted), 3);
  });
}

test("a warm process that has ended is not taken", async (t) => {
  const { take, warm, exits } = await openPool(t);
  warm();

  exits[0]?.();
  await setImmediate();

  assert.equal(take(), 2);
});

test("the end of an earlier warm process leaves the current one", async (t) => {
  const { take, warm, exits } = await openPool(t);
  warm();
  warm(larger);

  exits[0]?.();
  await setImmediate();

  assert.equal(take(larger), 2);
});

test("a process that cannot load the packages ahead is ended, unless somebody has taken it", async (t) => {
  const { take, warm, parts, steps } = await openPool(t);
  let fail = (): void => undefined;
  parts.prepare = () => new Promise((_, reject) => (fail = () => reject(new Error("too late"))));

  warm();
  take();
  fail();
  await setImmediate();
  assert.deepEqual(steps, []);
  warm();
  fail();
  await setImmediate();

  assert.deepEqual(steps, ["2 terminated"]);
});

test("a new runtime ends the warm process, and later processes start from it", async (t) => {
  const { pool, take, warm, steps, forks } = await openPool(t);
  warm();

  assert.equal(await pool.renew("/runtime-1"), false);
  assert.deepEqual(steps, []);
  assert.equal(await pool.renew("/runtime-2"), true);

  assert.deepEqual(steps, ["1 terminated"]);
  assert.equal(take(), 2);
  assert.deepEqual(
    forks.map(([runtime]) => runtime),
    ["/runtime-1", "/runtime-2"],
  );
});

test("a pool without a warm process can be renewed and closed", async (t) => {
  const { pool, steps } = await openPool(t);

  assert.equal(await pool.renew("/runtime-2"), true);
  await pool.close();

  assert.deepEqual(steps, []);
});

test("a closed pool ends its warm process and starts no other", async (t) => {
  const { pool, warm, steps } = await openPool(t);
  warm();

  await pool.close();

  assert.deepEqual(steps, ["1 terminated"]);
  assert.equal(warm(larger), undefined);
});

test("a process for a debugger has its port, no permission model, and the machine's network", async (t) => {
  const { debug, forks, kernel, warm } = await openPool(t);
  warm();

  assert.equal(debug(), 2);

  const sandbox = { ...WANTED.settings.sandbox, hasOpenNetwork: true };
  const settings = { ...WANTED.settings, flags: [], sandbox };
  assert.deepEqual(forks[1], ["/runtime-1", settings, kernel, 9_229]);
});

for (const start of ["take", "warm", "debug"] as const) {
  test(`a process that the pool starts by "${start}" is ended when it exceeds its limits`, async (t) => {
    const opened = await openPool(t);
    opened[start]();

    opened.proc.write("1/status", `FDSize:\t64\nRssAnon:\t${500 * 1024} kB\n`);
    t.mock.timers.tick(300); // processes are looked at every 250 ms, all at the same moments

    assert.match(opened.steps.join(), /^1 ended: memory limit exceeded/);
  });
}

test("running reloads are counted, also when they fail", async (t) => {
  const { pool } = await openPool(t);
  assert.equal(pool.reloads, 0);

  const reload = pool.whileReloading(async () => {
    assert.equal(pool.reloads, 1);
    throw new Error("wrong code");
  });

  await assert.rejects(reload, /wrong code/);
  assert.equal(pool.reloads, 0);
  assert.equal(await pool.whileReloading(async () => "done"), "done");
});
