import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { MantelError } from "@mantel/plugin-sdk/errors";
import type { RunRequest, SetScheduleRequest } from "@mantel/plugin-sdk/schedule-protocol";
import type { ScheduleSpec } from "@mantel/plugin-sdk/schedule-spec";
import { Scheduler } from "../../../host/schedule/scheduler.ts";
import { collectedLog } from "../../helpers/collected-log.ts";
import { emptyFolder } from "../../helpers/folder.ts";
import { until } from "../../helpers/until.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const START = Date.parse("2026-11-23T12:00:00Z");

/** A wall clock and a monotonic clock that the test moves. */
function createClock(startAt = START) {
  let now = startAt;
  let monotonic = 1_000;
  let wakes: { at: number; call: () => void }[] = [];
  const clock = {
    now: () => now,
    monotonicNow: () => monotonic,
    wake: (ms: number, call: () => void) => {
      const wake = { at: monotonic + ms, call };
      wakes.push(wake);
      return () => (wakes = wakes.filter((each) => each !== wake));
    },
  };
  /** Moves both clocks, in steps from one wake-up to the next. */
  const advance = async (ms: number) => {
    const end = monotonic + ms;
    for (;;) {
      const next = wakes.filter(({ at }) => at <= end).toSorted((a, b) => a.at - b.at)[0];
      if (!next) break;
      wakes = wakes.filter((each) => each !== next);
      now += Math.max(0, next.at - monotonic);
      monotonic = Math.max(monotonic, next.at);
      next.call();
      await settle();
    }
    now += end - monotonic;
    monotonic = end;
  };
  return { clock, advance, setClock: (at: number) => (now = at), wakes: () => wakes.length };
}

const settle = () => new Promise<void>((resolve) => setImmediate(resolve));

async function openScheduler(
  t: TestContext,
  {
    folder,
    startAt,
    timeZone = "Europe/Berlin",
  }: { folder?: string; startAt?: number; timeZone?: string } = {},
) {
  const dataFolder = folder ?? (await emptyFolder(t));
  const log = collectedLog();
  const time = createClock(startAt);
  const scheduler = await Scheduler.open({
    dataFolder,
    log,
    timeZone: () => timeZone,
    clock: time.clock,
  });
  t.after(() => scheduler.close());
  const runs: RunRequest[] = [];
  const dropped: string[] = [];
  const state = { failure: undefined as Error | undefined };
  const runner = {
    run: async (request: RunRequest) => {
      if (state.failure) throw state.failure;
      runs.push(request);
    },
    dropped: (name: string) => void dropped.push(name),
  };
  const set = (name: string, spec: ScheduleSpec, options: Partial<SetScheduleRequest> = {}) =>
    scheduler.set("auto", { name, spec, missed: "skip", isStart: false, ...options });
  const resume = (...names: string[]) => scheduler.resume("auto", new Set(names), runner);
  /** The times of the runs since the last call. */
  const times = () =>
    runs.splice(0).map(({ name, dueAt, isMissed }) => {
      const at = new Date(dueAt).toISOString().slice(0, 16);
      return `${name} ${at}${isMissed ? " missed" : ""}`;
    });
  return { ...time, scheduler, dataFolder, log, runs, dropped, state, runner, set, resume, times };
}

test("an interval, a delay, a date and a cron expression run at their times", async (t) => {
  const { set, resume, advance, times } = await openScheduler(t);
  await set("every", { kind: "every", ms: 40 * MINUTE });
  await set("after", { kind: "after", ms: 15 * MINUTE });
  await set("at", { kind: "at", at: START + HOUR });
  await set("cron", { kind: "cron", expression: "30 * * * *" });
  resume("every", "after", "at", "cron");

  await advance(2 * HOUR);

  assert.deepEqual(times(), [
    "after 2026-11-23T12:15",
    "cron 2026-11-23T12:30",
    "every 2026-11-23T12:40",
    "at 2026-11-23T13:00",
    "every 2026-11-23T13:20",
    "cron 2026-11-23T13:30",
    "every 2026-11-23T14:00",
  ]);
});

test("timers survive a restart, and keep their times when they are set again in the start", async (t) => {
  const first = await openScheduler(t);
  await first.set("remind", { kind: "after", ms: HOUR });
  await first.set("daily", { kind: "cron", expression: "0 14 * * *" });
  await first.scheduler.close();

  const second = await openScheduler(t, { folder: first.dataFolder, startAt: START + 30 * MINUTE });
  await second.set("remind", { kind: "after", ms: HOUR }, { isStart: true });
  second.resume("remind", "daily");
  await second.advance(HOUR);

  assert.deepEqual(second.times(), ["remind 2026-11-23T13:00", "daily 2026-11-23T13:00"]);
});

test("a delay that is set again after the start begins again", async (t) => {
  const { set, resume, advance, times } = await openScheduler(t);
  resume();
  await set("off", { kind: "after", ms: 5 * MINUTE });
  await advance(4 * MINUTE);

  await set("off", { kind: "after", ms: 5 * MINUTE });
  await advance(10 * MINUTE);

  assert.deepEqual(times(), ["off 2026-11-23T12:09"]);
});

test("a missed run is left out or made up for once, however long the host was away", async (t) => {
  const first = await openScheduler(t);
  const each = { kind: "every", ms: 10 * MINUTE } as const;
  await first.set("skip", each);
  await first.set("once", each, { missed: "once" });
  await first.set("alarm", { kind: "at", at: START + HOUR }, { missed: "once" });
  await first.set("bell", { kind: "at", at: START + HOUR });
  await first.scheduler.close();

  const second = await openScheduler(t, {
    folder: first.dataFolder,
    startAt: START + 125 * MINUTE,
  });
  second.resume("skip", "once", "alarm", "bell");
  await second.advance(6 * MINUTE);

  assert.deepEqual(second.times(), [
    "once 2026-11-23T12:10 missed",
    "alarm 2026-11-23T13:00 missed",
    "skip 2026-11-23T14:10",
    "once 2026-11-23T14:10",
  ]);
});

test("a date that has run does not run again after a restart, also if it is set again", async (t) => {
  const first = await openScheduler(t);
  const spec = { kind: "at", at: START + MINUTE } as const;
  await first.set("alarm", spec, { missed: "once" });
  first.resume("alarm");
  await first.advance(2 * MINUTE);
  assert.equal(first.times().length, 1);
  await first.scheduler.close();

  const second = await openScheduler(t, { folder: first.dataFolder, startAt: START + HOUR });
  await second.set("alarm", spec, { missed: "once", isStart: true });
  second.resume("alarm");
  await second.advance(HOUR);

  assert.deepEqual(second.times(), []);
});

test("a timer without a handler after a reload is removed, and reported", async (t) => {
  const { scheduler, set, resume, advance, times, dropped, dataFolder } = await openScheduler(t);
  await set("old", { kind: "every", ms: MINUTE });
  await set("kept", { kind: "after", ms: MINUTE });
  resume("old", "kept");

  resume("kept", "new");
  await advance(5 * MINUTE);

  assert.deepEqual(dropped, ["old"]);
  assert.deepEqual(times(), ["kept 2026-11-23T12:01"]);
  await scheduler.close();
  assert.doesNotMatch(await readFile(join(dataFolder, "schedules.json"), "utf8"), /old/);
});

test("timers of a module that does not run wait for it", async (t) => {
  const { scheduler, set, resume, runner, advance, times } = await openScheduler(t);
  await set("tick", { kind: "after", ms: MINUTE }, { missed: "once" });
  await advance(HOUR);
  assert.deepEqual(times(), []);
  resume("tick");
  await advance(0);
  assert.deepEqual(times(), ["tick 2026-11-23T12:01 missed"]);

  await set("tock", { kind: "every", ms: MINUTE });
  scheduler.pause("auto", { ...runner }); // an older generation
  await advance(MINUTE);
  scheduler.pause("auto", runner);
  await advance(HOUR);

  assert.equal(times().length, 1);
});

test("a run that finds no live process is repeated, and one that fails otherwise is not", async (t) => {
  const { set, resume, advance, times, state, log } = await openScheduler(t);
  await set("tick", { kind: "after", ms: MINUTE });
  resume("tick");
  state.failure = new MantelError("module_down", "it restarts");
  await advance(MINUTE + 12_000);
  state.failure = undefined;
  await advance(10_000);
  assert.deepEqual(times(), ["tick 2026-11-23T12:01"]);

  await set("tick", { kind: "after", ms: MINUTE });
  state.failure = new MantelError("deadline_passed", "late");
  await advance(MINUTE);
  state.failure = undefined;
  await advance(HOUR);

  assert.deepEqual(times(), []);
  assert.equal(log.records.at(-1)?.sentence, "could not run a schedule");
});

test("a module has at most a thousand timers, and others are not affected", async (t) => {
  const { scheduler, set } = await openScheduler(t);
  const spec = { kind: "every", ms: HOUR } as const;
  await Promise.all(Array.from({ length: 1_000 }, (_, at) => set(`t${at}`, spec)));

  let refused = 0;
  for (let at = 1_000; at < 100_000; at++) {
    await set(`t${at}`, spec).catch(({ code }: MantelError) => {
      if (code === "rate_limited") refused++;
    });
  }

  assert.equal(refused, 99_000);
  await set("t1", { kind: "after", ms: 5 });
  assert.equal(await scheduler.cancel("auto", "t0"), true);
  assert.equal(await scheduler.cancel("auto", "t0"), false);
  await set("one more", spec);
  await scheduler.set("other", { name: "t", spec, missed: "skip", isStart: false });
});

for (const [expression, reason] of [
  ["0 0 30 2 *", /never occurs/],
  ["0 0 31 4 *", /never occurs/],
  ["every day", /five fields/],
  ["2026-01-01T00:00:00", /five fields/],
  ["61 * * * *", /invalid cron expression/],
  ["0 0 0 0 0 0 0 0", /five fields/],
] as const) {
  test(`the cron expression ${expression} is refused, and nothing is stored`, async (t) => {
    const { set, dataFolder } = await openScheduler(t);

    await assert.rejects(set("cron", { kind: "cron", expression }), (error: MantelError) => {
      assert.equal(error.code, "invalid");
      assert.match(error.message, reason);
      return true;
    });

    await assert.rejects(readFile(join(dataFolder, "schedules.json")), { code: "ENOENT" });
  });
}

test("after the clock is set back, intervals are not delayed and past runs are not repeated", async (t) => {
  const { set, resume, advance, setClock, clock, times } = await openScheduler(t);
  await set("every", { kind: "every", ms: 10 * MINUTE });
  await set("cron", { kind: "cron", expression: "0 * * * *" });
  await set("at", { kind: "at", at: START + 30 * MINUTE });
  resume("every", "cron", "at");
  await advance(5 * MINUTE);

  setClock(clock.now() - 2 * HOUR);
  await advance(MINUTE);
  await advance(10 * MINUTE);

  assert.deepEqual(times(), ["every 2026-11-23T10:10"]);
  await advance(50 * MINUTE);
  const runs = times();
  assert.equal(runs.filter((each) => each.startsWith("every")).length, 5);
  assert.deepEqual(
    runs.filter((each) => !each.startsWith("every")),
    ["cron 2026-11-23T11:00"],
  );
});

test("a clock that is set forward runs each timer at most once more", async (t) => {
  const { set, resume, advance, setClock, clock, times } = await openScheduler(t);
  await set("skip", { kind: "every", ms: 10 * MINUTE });
  await set("once", { kind: "every", ms: 10 * MINUTE }, { missed: "once" });
  resume("skip", "once");

  for (let at = 0; at < 5; at++) {
    setClock(clock.now() + 3 * HOUR);
    await advance(MINUTE);
    setClock(clock.now() - 3 * HOUR);
    await advance(MINUTE);
  }

  const runs = times();
  assert.ok(runs.filter((each) => each.startsWith("skip")).length <= 1);
  assert.ok(runs.filter((each) => each.startsWith("once")).length <= 6);
});

test("runs every second are stored together, once a minute", async (t) => {
  const { set, resume, advance, dataFolder } = await openScheduler(t);
  await set("second", { kind: "every", ms: 1_000 });
  resume("second");
  const stored = () => readFile(join(dataFolder, "schedules.json"), "utf8");
  const before = await stored();

  await advance(59_000);
  assert.equal(await stored(), before);
  await advance(5_000);

  await until(async () => (await stored()) !== before);
});

test("without a running module nothing wakes up", async (t) => {
  const { set, wakes } = await openScheduler(t);

  await set("tick", { kind: "every", ms: 1_000 });

  assert.equal(wakes(), 0);
});

test("timers whose names have the same beginning have one handler", async (t) => {
  const { set, resume, advance, times, dropped } = await openScheduler(t);
  for (const name of ["off lamp", "off fan", "on lamp"]) {
    await set(name, { kind: "after", ms: MINUTE });
  }

  resume("off *");
  await advance(MINUTE);

  assert.deepEqual(dropped, ["on lamp"]);
  assert.deepEqual(times(), ["off lamp 2026-11-23T12:01", "off fan 2026-11-23T12:01"]);
});
