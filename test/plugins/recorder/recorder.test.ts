import assert from "node:assert/strict";
import { test } from "node:test";
import { HOUR_MS } from "../../../plugins/recorder/statistics.ts";
import {
  batch,
  DAY_MS,
  entry,
  filled,
  LAMP,
  maintainAll,
  MINUTE_MS,
  openHistory,
  ROW,
  START,
  values,
} from "../../helpers/recorder-history.ts";

test("a curve has the value at its begin, each report, and gaps", async (t) => {
  const { recorder, clock } = await openHistory(t);
  await recorder.record(
    values([START, 5], [START + 10_000, 7], [START + 20_000, NaN], [START + 40_000, 8]),
  );
  clock.now = START + 50_000;

  const { points, resolution } = await recorder.curve({
    series: 1,
    from: START + 5_000,
    to: START + 60_000,
    points: 100,
  });

  assert.equal(resolution, "raw");
  assert.deepEqual(
    points.map(({ at, value }) => [at - START, value]),
    [
      [5_000, 5],
      [10_000, 7],
      [20_000, null],
      [40_000, 8],
    ],
  );
});

test("a curve is the same before its hours are closed, afterwards, and after a restart", async (t) => {
  const { recorder, start, clock } = await openHistory(t);
  const reports = Array.from(
    { length: 200 },
    (_, index) => [START + index * MINUTE_MS, (index * 7) % 31] as const,
  );
  await recorder.record(values(...reports));
  clock.now = START + 200 * MINUTE_MS;
  const request = { series: 1, from: START + 30 * MINUTE_MS, to: clock.now, points: 500 };

  const before = await recorder.curve(request);
  await maintainAll(recorder, clock.now);
  const after = await recorder.curve(request);
  await recorder.close();
  const next = start();
  t.after(() => next.close());
  const known = await next.open();

  assert.equal(before.points.length, 170);
  assert.deepEqual(after, before);
  assert.deepEqual(await next.curve(request), before);
  assert.deepEqual([known.series[0]?.value, known.lastAt], [(199 * 7) % 31, clock.now]);
});

test("long spans are made of statistics, with minimum and maximum, in few points", async (t) => {
  const { recorder, clock } = await openHistory(t);
  await filled(recorder, clock, 3);

  const whole = { series: 1, from: START, to: START + 3 * DAY_MS };
  const coarse = await recorder.curve({ ...whole, points: 36 });
  const fine = await recorder.curve({ ...whole, points: 500 });

  assert.deepEqual([coarse.resolution, coarse.points.length], ["1h", 36]);
  const [first] = coarse.points;
  assert.deepEqual([first?.min, first?.max], [0, 1 + 59 / 100]);
  assert.ok(Math.abs((first?.value ?? 0) - 0.795) < 1e-6);
  assert.equal(fine.resolution, "5m");
  assert.ok(fine.points.length <= 500);
});

test("statistics of a day have the mean over time, and the running hour counts", async (t) => {
  const { recorder, clock } = await openHistory(t);
  await recorder.record(values([START, 10]));
  await maintainAll(recorder, START + HOUR_MS + 2 * MINUTE_MS);
  clock.now = START + 3 * HOUR_MS;
  await recorder.record(values([START + 2 * HOUR_MS, 40]));

  const [day, next] = await recorder.statistics({
    series: 1,
    bounds: [START, START + DAY_MS, START + 2 * DAY_MS],
  });

  assert.deepEqual([day?.min, day?.mean, day?.max, next], [10, 20, 40, null]);
});

test("statistics of days that begin within an hour are split by five minutes", async (t) => {
  const { recorder, clock } = await openHistory(t);
  const half = START + 12 * HOUR_MS + 30 * MINUTE_MS;
  await recorder.record(values([START, 1], [half, 3]));
  clock.now = START + 3 * DAY_MS;
  await maintainAll(recorder, clock.now);

  const stats = await recorder.statistics({
    series: 1,
    bounds: [half - DAY_MS, half, half + DAY_MS],
  });

  assert.deepEqual(
    stats.map((stat) => stat?.mean),
    [1, 3],
  );
});

test("the increase of a counter is known by the hour, also across a restart", async (t) => {
  const { recorder, start, clock } = await openHistory(t);
  const meter = { ...ROW, id: 2, field: "energy", unit: "kWh", isCounter: true };
  const at = (hours: number, value: number) => ({
    series: [2],
    at: [START + hours * HOUR_MS],
    value: [value],
  });
  await recorder.record(batch({ series: [meter], points: at(0.5, 100) }));
  await recorder.record(batch({ points: at(1.5, 102) }));
  await maintainAll(recorder, START + 2.5 * HOUR_MS);
  await recorder.close();
  const next = start();
  t.after(() => next.close());
  await next.open();
  await next.record(batch({ points: at(2.6, 1) }));
  clock.now = START + 3 * HOUR_MS;

  const bounds = [0, 1, 2, 3].map((hour) => START + hour * HOUR_MS);
  const stats = await next.statistics({ series: 2, bounds });

  assert.deepEqual(
    stats.map((stat) => stat?.sum),
    [0, 2, 1],
  );
});

test("a report for an hour that is closed is added to it", async (t) => {
  const { recorder, clock } = await openHistory(t);
  await recorder.record(values([START, 10]));
  await recorder.record(values([START + 2 * HOUR_MS, 10]));
  clock.now = START + 4 * HOUR_MS;
  await maintainAll(recorder, clock.now);

  await recorder.record(values([START + 30 * MINUTE_MS, 30])); // the clock was set back
  await maintainAll(recorder, clock.now);

  const [hour, , third] = await recorder.statistics({
    series: 1,
    bounds: [0, 1, 2, 3].map((each) => START + each * HOUR_MS),
  });
  assert.deepEqual([hour?.mean, hour?.max, third?.mean], [20, 30, 10]);
});

test("reports are dropped after their days, also of single devices, and statistics stay", async (t) => {
  const { recorder, clock } = await openHistory(t, {
    retention: { rawDays: 2, exceptions: { "demo:plug:2": 1 } },
  });
  await recorder.record(batch({ series: [{ ...ROW, id: 2, device: "demo:plug:2" }] }));
  await filled(recorder, clock, 4);
  await maintainAll(recorder, clock.now + DAY_MS);
  const first = { series: 1, from: START, to: START + HOUR_MS };

  assert.deepEqual(await recorder.raw({ ...first, limit: 100 }), []);
  assert.equal(
    (
      await recorder.raw({
        ...first,
        from: START + 4 * DAY_MS - HOUR_MS,
        to: START + 4 * DAY_MS,
        limit: 100,
      })
    ).length,
    60,
  );
  const { resolution, points } = await recorder.curve({ ...first, points: 100 });
  assert.deepEqual([resolution, points.length], ["5m", 12]);
});

test("above its size the history drops the oldest reports", async (t) => {
  const { recorder, clock } = await openHistory(t, { retention: { maxBytes: 100_000 } });
  await filled(recorder, clock, 5);
  const before = await recorder.bytes();
  await maintainAll(recorder, clock.now + 2 * DAY_MS);

  assert.ok(before > 100_000 || (await recorder.bytes()) <= before);
  assert.deepEqual(
    await recorder.raw({ series: 1, from: START, to: START + HOUR_MS, limit: 9 }),
    [],
  );
  const [day] = await recorder.statistics({ series: 1, bounds: [START, START + DAY_MS] });
  assert.equal(day?.max, 23.59);
});

test("the logbook is filtered and paged, newest first", async (t) => {
  const { recorder } = await openHistory(t);
  const door = { id: "demo:door:2", name: "Door", room: "Kitchen", kind: "binary-sensor" };
  const opened = { kind: "device", id: door.id, name: "Door" } as const;
  const evening = {
    kind: "automation",
    id: "evening",
    name: "50% _ Evening",
    parent: opened,
  } as const;
  await recorder.record(
    batch({
      devices: [door],
      entries: [
        entry(START + 1, { device: door.id, cause: opened }),
        entry(START + 2, { cause: evening }),
        entry(START + 2, { what: "brightness" }),
        entry(START + 3, { device: null, kind: "record", what: "ran", cause: evening }),
      ],
    }),
  );
  const find = async (filter: object) => {
    const found = await recorder.entries({ limit: 10, ...filter });
    return found.map(({ what, at }) => `${what} ${at - START}`);
  };

  assert.deepEqual(await find({}), ["ran 3", "brightness 2", "on 2", "on 1"]);
  assert.deepEqual(await find({ room: "Kitchen" }), ["on 1"]);
  assert.deepEqual(await find({ device: LAMP.id }), ["brightness 2", "on 2"]);
  assert.deepEqual(await find({ cause: "automation" }), ["ran 3", "on 2"]);
  assert.deepEqual(await find({ cause: "automation:50% _ Evening" }), ["ran 3", "on 2"]);
  assert.deepEqual(await find({ cause: "device:demo:door:2" }), ["ran 3", "on 2", "on 1"]);
  assert.deepEqual(await find({ cause: "automation:50% . Evening" }), []);
  assert.deepEqual(await find({ from: START + 2, to: START + 3 }), ["brightness 2", "on 2"]);
  const [, last] = await recorder.entries({ limit: 2 });
  assert.deepEqual(await find({ after: last }), ["on 2", "on 1"]);
});

test("a renamed device keeps its history, and entries show its name and room of now", async (t) => {
  const { recorder } = await openHistory(t);
  await recorder.record(batch({ entries: [entry(START)] }));
  await recorder.record(batch({ devices: [{ ...LAMP, name: "Hall lamp", room: "Stairs" }] }));

  const [found] = await recorder.entries({ room: "Stairs", limit: 1 });
  assert.deepEqual([found?.name, found?.device], ["Hall lamp", LAMP.id]);
});

test("after a restart it is known which devices could not be reached", async (t) => {
  const { recorder, start } = await openHistory(t);
  const reachable = (at: number, device: string, to: string) =>
    entry(at, { device, kind: "availability", what: "available", to });
  await recorder.record(
    batch({
      entries: [
        reachable(START, "demo:light:1", "false"),
        reachable(START, "demo:light:2", "false"),
        reachable(START + 1, "demo:light:2", "true"),
        reachable(START, "demo:light:3", "false"),
        entry(START + 1, { device: "demo:light:3", kind: "removed", to: null }),
      ],
    }),
  );
  await recorder.close();
  const next = start();
  t.after(() => next.close());

  assert.deepEqual((await next.open()).unreachable, ["demo:light:1"]);
});

test("entries are dropped after their days", async (t) => {
  const { recorder } = await openHistory(t, { retention: { logbookDays: 1 } });
  await recorder.record(batch({ entries: [entry(START), entry(START + 2 * DAY_MS)] }));
  await maintainAll(recorder, START + 2 * DAY_MS + 1);

  assert.deepEqual((await recorder.entries({ limit: 9 })).length, 1);
});
