import assert from "node:assert/strict";
import { test } from "node:test";
import { definePlugin, type PluginContext } from "@mantel/plugin-sdk";
import { startPlugin } from "@mantel/plugin-sdk/testing";

const NOW = new Date("2026-11-23T12:00:00Z");
const MINUTE = 60_000;

/** A plugin that does only `start`, at noon of a winter's day. */
async function withSchedule(
  start: (ctx: PluginContext<undefined, undefined>, runs: string[]) => void | Promise<void>,
) {
  const runs: string[] = [];
  const plugin = await startPlugin(definePlugin({ start: (ctx) => start(ctx, runs) }), {
    now: NOW,
  });
  return { plugin, clock: plugin.clock, runs };
}

test("a test moves the clock, and handlers run in order with the time they were due", async () => {
  const { plugin, clock, runs } = await withSchedule(async ({ schedule }, seen) => {
    const note = ({ name, dueAt }: { name: string; dueAt: Date }) =>
      void seen.push(`${name} ${dueAt.toISOString().slice(11, 16)}`);
    await schedule.every("poll", 20 * MINUTE, note);
    await schedule.cron("daily", "30 13 * * *", note);
    await schedule.at("date", new Date("2026-11-23T12:10:00Z"), note);
    await schedule.after("later", 5 * MINUTE, note);
  });
  assert.equal(clock.nextRun("daily")?.toISOString(), "2026-11-23T12:30:00.000Z");

  await clock.advance(45 * MINUTE);

  assert.deepEqual(runs, ["later 12:05", "date 12:10", "poll 12:20", "daily 12:30", "poll 12:40"]);
  assert.equal(clock.now.toISOString(), "2026-11-23T12:45:00.000Z");
  assert.equal(clock.nextRun("later"), undefined);
  await plugin.stop();
});

test("a cancelled schedule does not run, and its name can be used again", async () => {
  const { plugin, clock, runs } = await withSchedule(async ({ schedule }, seen) => {
    await schedule.after("off", MINUTE, () => void seen.push("first"));
    assert.equal(await schedule.cancel("off"), true);
    assert.equal(await schedule.cancel("off"), false);
    await schedule.after("off", 2 * MINUTE, () => void seen.push("second"));
  });

  await clock.advance(5 * MINUTE);

  assert.deepEqual(runs, ["second"]);
  await plugin.stop();
});

test("a handler that fails is named in the log and runs again", async () => {
  const { plugin, clock } = await withSchedule(async ({ schedule }) => {
    await schedule.every("poll", MINUTE, () => Promise.reject(new Error("no answer")));
  });

  await clock.advance(2 * MINUTE);

  const failures = plugin.logs.filter(({ sentence }) => sentence === "a schedule failed");
  assert.deepEqual(
    failures.map(({ fields }) => fields?.["name"]),
    ["poll", "poll"],
  );
  await plugin.stop();
});

test("a run is left out while the previous one has not ended, and the stop waits for it", async () => {
  let finish = (): void => undefined;
  const { plugin, clock, runs } = await withSchedule(async ({ schedule }, seen) => {
    await schedule.every("slow", MINUTE, async () => {
      seen.push("begun");
      await new Promise<void>((resolve) => (finish = resolve));
      seen.push("ended");
    });
  });
  await clock.advance(3 * MINUTE);
  assert.deepEqual(runs, ["begun"]);
  assert.match(plugin.logs[0]?.sentence ?? "", /skipped a run/);

  const stopped = plugin.stop();
  finish();
  await stopped;

  assert.deepEqual(runs, ["begun", "ended"]);
});

test("a wrong cron expression is refused where it is set", async () => {
  const { plugin } = await withSchedule(async ({ schedule }) => {
    await assert.rejects(
      schedule.cron("never", "0 0 30 2 *", () => undefined),
      { code: "invalid" },
    );
  });

  await plugin.stop();
});

test("the handler with the longest matching beginning runs a timer without its own", async () => {
  const { plugin, clock, runs } = await withSchedule(async ({ schedule }, seen) => {
    for (const name of ["off lamp 1", "off fan", "off lamp 2"]) {
      await schedule.after(name, MINUTE, () => void seen.push(`own ${name}`));
    }
    await schedule.cancel("off fan");
    schedule.on("*", ({ name }) => void seen.push(`any ${name}`));
    schedule.on("off lamp *", ({ name }) => void seen.push(`lamp ${name}`));
  });
  await clock.setSchedule({
    name: "off lamp 3",
    spec: { kind: "after", ms: MINUTE },
    missed: "once",
    isStart: false,
  });
  await clock.setSchedule({
    name: "else",
    spec: { kind: "after", ms: MINUTE },
    missed: "once",
    isStart: false,
  });

  await clock.advance(MINUTE);

  assert.deepEqual(runs, ["own off lamp 1", "own off lamp 2", "lamp off lamp 3", "any else"]);
  await plugin.stop();
});
