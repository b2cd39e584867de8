import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { nextTime, type TimeTrigger } from "../../../plugins/automations/engine/next-time.ts";
import {
  plusDays,
  secondsOf,
  wallTimeAt,
  weekdayOf,
} from "../../../plugins/automations/engine/zone.ts";
import { StagedEngine } from "./staged-engine.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const LAMP = { id: "test:light:1", state: { on: false } };

/** Zones with changes by an hour in both hemispheres, by half an hour, and at midnight. */
const ZONES = [
  "Europe/Berlin",
  "America/New_York",
  "Australia/Sydney",
  "Australia/Lord_Howe",
  "America/Santiago",
  "Asia/Kolkata",
] as const;

const zone = fc.constantFrom(...ZONES);
const year = fc.integer({ min: 2024, max: 2031 });
const two = (value: number) => String(value).padStart(2, "0");
/** Half of them in the hours at which clocks change. */
const timeOfDay = fc
  .tuple(
    fc.oneof(fc.integer({ min: 0, max: 3 }), fc.integer({ min: 0, max: 23 })),
    fc.integer({ min: 0, max: 59 }),
  )
  .map(([hours, minutes]) => `${two(hours)}:${two(minutes)}`);

/** All times of a trigger in a year. */
function timesOf(
  trigger: TimeTrigger,
  from: number,
  to: number,
  timeZone: string,
  coordinates?: Place,
) {
  const times: number[] = [];
  let next = nextTime(trigger, from, { timeZone, coordinates });
  while (next !== undefined && next < to) {
    times.push(next);
    next = nextTime(trigger, next, { timeZone, coordinates }, true);
  }
  return times;
}
interface Place {
  readonly latitude: number;
  readonly longitude: number;
}

const dayText = (instant: number, timeZone: string) => {
  const { year: y, month, day } = wallTimeAt(instant, timeZone);
  return `${y}-${two(month)}-${two(day)}`;
};

test("a time of day fires once on each day of a year, also when clocks change", () => {
  fc.assert(
    fc.property(zone, year, timeOfDay, (timeZone, y, at) => {
      const from = Date.UTC(y, 0, 1, 12);
      const times = timesOf({ type: "time", at }, from, from + 365 * DAY, timeZone);

      const days = times.map((each) => dayText(each, timeZone));
      assert.equal(new Set(days).size, days.length, "no day twice");
      for (const [index, instant] of times.entries()) {
        const wall = wallTimeAt(instant, timeZone);
        const expected =
          index === 0 ? wall : plusDays(wallTimeAt(times[index - 1] ?? 0, timeZone), 1);
        assert.equal(
          `${wall.month}-${wall.day}`,
          `${expected.month}-${expected.day}`,
          "no day left out",
        );
        if (wall.seconds === secondsOf(at)) continue;
        // The time does not exist on this day: it fires right after the change.
        const before = wallTimeAt(instant - 1_000, timeZone);
        assert.ok(
          wall.seconds > secondsOf(at) && before.seconds !== wall.seconds - 1,
          dayText(instant, timeZone),
        );
      }
      assert.ok(Math.abs(times.length - 365) <= 1);
    }),
    { numRuns: 8 },
  );
});

test("a cron expression of a time of day fires at the same instants as the time", () => {
  fc.assert(
    fc.property(zone, year, timeOfDay, (timeZone, y, at) => {
      const [hours, minutes] = at.split(":").map(Number);
      const [from, to] = [Date.UTC(y, 0, 1, 12), Date.UTC(y + 1, 0, 1, 12)];
      const expression = `${minutes} ${hours} * * *`;

      const times = timesOf({ type: "time", at }, from, to, timeZone);
      const cron = timesOf({ type: "cron", expression }, from, to, timeZone);

      const days = (all: readonly number[]) => all.map((each) => dayText(each, timeZone));
      assert.deepEqual(days(cron), days(times));
      assert.equal(new Set(days(cron)).size, cron.length);
    }),
    { numRuns: 8 },
  );
});

test("a time of day with days of the week fires on those days alone", () => {
  const times = timesOf(
    { type: "time", at: "02:30", days: ["sun"] },
    Date.UTC(2026, 0, 1),
    Date.UTC(2027, 0, 1),
    "Europe/Berlin",
  );

  assert.equal(times.length, 52);
  for (const each of times) assert.equal(weekdayOf(wallTimeAt(each, "Europe/Berlin")), "sun");
});

test("the sun rises and sets once a day for a year, with offsets, in both hemispheres", () => {
  const places: [string, Place][] = [
    ["Europe/Berlin", { latitude: 52.52, longitude: 13.4 }],
    ["America/New_York", { latitude: 40.71, longitude: -74 }],
    ["Australia/Sydney", { latitude: -33.87, longitude: 151.2 }],
    ["America/Santiago", { latitude: -33.45, longitude: -70.67 }],
  ];
  const offset = fc.integer({ min: -12 * 60, max: 12 * 60 }).map((minutes) => minutes * MINUTE);
  fc.assert(
    fc.property(
      fc.constantFrom(...places),
      year,
      fc.constantFrom("sunrise", "sunset"),
      offset,
      ([timeZone, place], y, event, offsetMs) => {
        const from = Date.UTC(y, 0, 1, 3);
        const trigger = { type: "sun", event, offsetMs } as const;

        const times = timesOf(trigger, from, from + 365 * DAY, timeZone, place);

        assert.ok(Math.abs(times.length - 365) <= 1, String(times.length));
        for (const [index, each] of times.entries()) {
          const gap = each - (times[index - 1] ?? each - DAY);
          assert.ok(Math.abs(gap - DAY) < 10 * MINUTE, new Date(each).toISOString());
        }
      },
    ),
    { numRuns: 8 },
  );
});

test("the sun of the polar night rises again after months", () => {
  const [first, second] = timesOf(
    { type: "sun", event: "sunrise" },
    Date.UTC(2026, 11, 1),
    Date.UTC(2027, 2, 1),
    "Europe/Oslo",
    { latitude: 69.65, longitude: 18.96 },
  );

  assert.ok(first !== undefined && second !== undefined);
  assert.ok(wallTimeAt(first, "Europe/Oslo").month <= 2);
  assert.ok(second - first >= 20 * HOUR);
});

const staged = (now: string, more = {}) =>
  new StagedEngine({ now, timeZone: "Europe/Berlin", devices: [LAMP], ...more });
const alarm = (at: string, missed?: "once") => ({
  triggers: [{ type: "time" as const, at, ...(missed && { missed }) }],
  actions: [{ type: "command" as const, device: LAMP.id, command: { on: true } }],
});

for (const [what, now, expected] of [
  ["skipped", "2026-03-27T12:00:00Z", ["28T01:30", "29T01:00", "30T00:30"]],
  ["repeated", "2026-10-23T12:00:00Z", ["24T00:30", "25T00:30", "26T01:30"]],
] as const) {
  test(`the engine fires a time that a change of clocks has ${what} once`, async () => {
    const home = staged(now);
    home.set("alarm", alarm("02:30"));

    await home.advance(3 * DAY);

    assert.deepEqual(
      home.commands.map(({ at }) => at.slice(8, 16)),
      expected,
    );
  });
}

test("a clock that is set forward by a day misses a time, which is made up for if the trigger says so", async () => {
  const home = staged("2026-06-10T10:00:00Z");
  home.set("skip", alarm("18:00"));
  home.set("once", alarm("18:00", "once"));

  home.clock.set(home.clock.now() + DAY);
  await home.advance(2 * MINUTE);
  assert.deepEqual(
    home.commands.map(({ by }) => by.automation.id),
    ["once"],
  );
  await home.advance(DAY);

  assert.equal(home.commands.length, 3);
});

test("a clock that is set back by a day fires the times of that day again, and waits are not longer", async () => {
  const home = staged("2026-06-10T10:00:00Z");
  home.set("alarm", alarm("12:30"));
  const wait = { type: "wait" as const, ms: 30 * MINUTE };
  home.set("waits", { actions: [wait, ...alarm("00:00").actions] });
  home.engine.run("waits");
  await home.advance(MINUTE);

  home.clock.set(home.clock.now() - DAY);
  await home.advance(31 * MINUTE);

  assert.deepEqual(
    home.commands.map(({ at, by }) => [by.automation.id, at.slice(8, 16)]),
    [
      ["waits", "09T10:30"],
      ["alarm", "09T10:30"],
    ],
  );
});

test("a clock that is set back by a minute fires no time twice", async () => {
  const home = staged("2026-06-10T10:29:00Z");
  home.set("alarm", alarm("12:30"));
  await home.advance(MINUTE);
  assert.equal(home.commands.length, 1);

  home.clock.set(home.clock.now() - MINUTE);
  await home.advance(5 * MINUTE);

  assert.equal(home.commands.length, 1);
});

test("a restart fires no time twice, and a short one leaves none out", async () => {
  let home = staged("2026-06-10T10:29:00Z");
  home.set("alarm", alarm("12:30"));
  await home.advance(MINUTE);
  assert.equal(home.commands.length, 1);

  home = home.restarted({ devices: [LAMP] });
  home.set("alarm", alarm("12:30"));
  await home.advance(5 * MINUTE);
  assert.equal(home.commands.length, 0);

  await home.advance(DAY - 6 * MINUTE);
  home.engine.stop();
  home = staged("2026-06-11T10:30:20Z", { store: home.store });
  home.set("alarm", alarm("12:30"));
  await home.advance(MINUTE);

  assert.equal(home.commands.length, 1);
});

test("a time that has fired is stored at once, so that a crash does not repeat it", async () => {
  const first = staged("2026-06-10T10:29:00Z");
  first.set("alarm", alarm("12:30", "once"));
  await first.advance(MINUTE);
  first.engine.stop();

  const second = staged("2026-06-10T10:30:05Z", { store: first.store });
  second.set("alarm", alarm("12:30", "once"));
  await second.advance(MINUTE);

  assert.equal(second.commands.length, 0);
});
