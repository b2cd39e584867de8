import assert from "node:assert/strict";
import { test } from "node:test";
import { type HistoryRun, historyRun, historyRuns, LONGEST_TRACE } from "@mantel/plugin-sdk";
import { SqliteDatabase } from "../../../plugins/recorder/sqlite-database.ts";
import { MIGRATIONS } from "../../../plugins/recorder/sqlite-schema.ts";
import { batch, entry, maintainAll, openHistory, START } from "../../helpers/recorder-history.ts";
import { startRecorder } from "../../helpers/recorder-plugin.ts";

const DOOR = { kind: "device", id: "demo:binary-sensor:1", name: "Front door" } as const;
const EVENING = { kind: "automation", id: "evening", name: "Evening", parent: DOOR } as const;
const instant = (minute: number): string =>
  new Date(Date.UTC(2026, 10, 1, 12, minute)).toISOString();

/** A run that started in a minute of the hour and ended in the next. */
function runOf(minute: number, change: Partial<HistoryRun> = {}): HistoryRun {
  return {
    id: `run-${minute}`,
    startedAt: instant(minute),
    endedAt: instant(minute + 1),
    result: "completed",
    cause: EVENING,
    trace: { actions: [{ index: 0, result: "ok" }] },
    ...change,
  };
}

test("runs are kept with their traces and causes, also when nothing was done, and are counted by result", async (t) => {
  const { running } = await startRecorder(t);
  await running.call(historyRun, runOf(1));
  await running.call(historyRun, runOf(2, { result: "stopped" }));
  await running.call(historyRun, runOf(3, { result: "failed", error: "the lamp did not answer" }));
  await running.call(historyRun, runOf(4, { result: "cancelled" }));
  const other = { kind: "automation", id: "morning", name: "Morning" } as const;
  await running.call(historyRun, runOf(5, { cause: other }));

  const { runs, counts, next } = await running.call(historyRuns, { automation: "evening" });
  assert.deepEqual(
    runs.map(({ id, result, error, trace }) => [id, result, error, trace]),
    [
      ["run-4", "cancelled", undefined, undefined],
      ["run-3", "failed", "the lamp did not answer", undefined],
      ["run-2", "stopped", undefined, undefined],
      ["run-1", "completed", undefined, undefined],
    ],
  );
  assert.deepEqual(counts, { completed: 1, stopped: 1, failed: 1, cancelled: 1 });
  assert.equal(next, null);

  const one = await running.call(historyRuns, { id: "run-1", traces: true });
  assert.deepEqual(one.runs, [{ ...runOf(1), automation: "evening", name: "Evening" }]);
});

test("runs are read in pages, by their start and by their result", async (t) => {
  const { running } = await startRecorder(t);
  for (const minute of [1, 2, 3, 4]) await running.call(historyRun, runOf(minute));
  await running.call(historyRun, runOf(5, { result: "stopped" }));

  const first = await running.call(historyRuns, { result: "completed", limit: 3 });
  const rest = await running.call(historyRuns, {
    result: "completed",
    limit: 3,
    cursor: first.next ?? "",
  });
  const span = await running.call(historyRuns, { from: instant(2), to: instant(4) });

  const ids = ({ runs }: typeof first) => runs.map(({ id }) => id);
  assert.deepEqual(ids(first), ["run-4", "run-3", "run-2"]);
  assert.deepEqual([ids(rest), rest.next, rest.counts.completed], [["run-1"], null, 4]);
  assert.deepEqual(ids(span), ["run-3", "run-2"]);
});

test("a page with long traces ends early, and the next one continues", async (t) => {
  const { running } = await startRecorder(t);
  const trace = { note: "x".repeat(LONGEST_TRACE - 20) };
  for (const minute of [1, 2, 3]) await running.call(historyRun, runOf(minute, { trace }));

  const first = await running.call(historyRuns, { traces: true });
  const rest = await running.call(historyRuns, { traces: true, cursor: first.next ?? "" });

  assert.deepEqual(
    [...first.runs, ...rest.runs].map(({ id, trace: found }) => [id, found]),
    [3, 2, 1].map((minute) => [`run-${minute}`, trace]),
  );
  assert.equal(first.runs.length, 2);
});

test("each run has one entry in the logbook, which leads to its trace", async (t) => {
  const { running, logbook } = await startRecorder(t);
  const failed = { result: "failed", error: "the lamp did not answer" } as const;
  await running.call(historyRun, runOf(1, failed));
  await running.call(historyRun, runOf(1, { ...failed, trace: { actions: ["undone"] } }));

  const { entries } = await logbook({ cause: "automation:evening" });
  assert.deepEqual(
    entries.map(({ kind, at, what, to, run, cause }) => [kind, at, what, to, run, cause]),
    [["run", instant(2), "failed", "the lamp did not answer", "run-1", EVENING]],
  );
  const { runs } = await running.call(historyRuns, { id: "run-1", traces: true });
  assert.deepEqual(
    runs.map(({ result, trace }) => [result, trace]),
    [["failed", { actions: ["undone"] }]],
  );
});

test("of an automation that runs all the time, sixty runs a minute are kept", async (t) => {
  const { running } = await startRecorder(t);
  for (let index = 0; index < 70; index++)
    await running.call(historyRun, runOf(1, { id: `run-${index}` }));

  assert.equal((await running.call(historyRuns, {})).counts.completed, 60);
});

test("a run whose trace is too long, or whose cause is not an automation, is refused", async (t) => {
  const { running } = await startRecorder(t);
  const trace = { note: "x".repeat(LONGEST_TRACE) };
  const fault = (pointer: string) => ({
    code: "invalid",
    message: new RegExp(`^the run is invalid: ${pointer} `),
  });

  await assert.rejects(running.call(historyRun, runOf(1, { trace })), fault("/trace"));
  await assert.rejects(running.call(historyRun, runOf(1, { cause: DOOR })), fault("/cause/kind"));
  assert.deepEqual((await running.call(historyRuns, {})).runs, []);
});

test("runs go with the logbook, and their causes too", async (t) => {
  const { recorder, clock } = await openHistory(t, { retention: { logbookDays: 1 } });
  const run = {
    ...{ id: "run-1", automation: "evening", name: "Evening", at: START, endedAt: START + 1 },
    ...{ result: "completed" as const, error: null, cause: EVENING, trace: "{}" },
  };
  await recorder.record(batch({ runs: [run], entries: [entry(START, { run: "run-1" })] }));
  assert.equal((await recorder.runs({ limit: 9 })).length, 1);

  clock.now = START + 2 * 24 * 3_600_000;
  await maintainAll(recorder, clock.now);

  assert.deepEqual(await recorder.runs({ limit: 9 }), []);
  assert.deepEqual(await recorder.entries({ limit: 9 }), []);
});

test("a file of the first version gets the new tables, and its runs are entries of their kind", async (t) => {
  const { recorder, start, file } = await openHistory(t);
  await recorder.close();
  const old = `${file}.old`;
  const db = SqliteDatabase.open(old, 0, MIGRATIONS.slice(0, 1));
  db.run("INSERT INTO cause VALUES (1, ?, '')", [JSON.stringify(EVENING)]);
  const insert = `INSERT INTO entry (at, kind, what, after_value, cause) VALUES (?, 'record', ?, ?, 1)`;
  db.run(insert, [START, "automation.run", '"completed"']);
  db.run(insert, [START + 1, "backup.done", '"3 MiB"']);
  db.end();

  const next = start(old);
  t.after(() => next.close());
  await next.open();

  assert.deepEqual(
    (await next.entries({ limit: 9 })).map(({ kind, what, to }) => [kind, what, to]),
    [
      ["record", "backup.done", '"3 MiB"'],
      ["run", "completed", null],
    ],
  );
  assert.deepEqual(await next.runs({ limit: 9 }), []);
});
