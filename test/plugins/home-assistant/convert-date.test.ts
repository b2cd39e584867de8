import assert from "node:assert/strict";
import { test } from "node:test";
import { calls, entity, isConfirmed, isConfirmedByAnswer, view } from "./entity.ts";

const BOTH = { has_date: true, has_time: true };
const DATE = { has_date: true, has_time: false };
const TIME = { has_date: false, has_time: true };

for (const [domain, attributes, value, call] of [
  ["date", {}, "2026-12-24", ["date.set_value", { date: "2026-12-24" }]],
  ["time", {}, "06:30", ["time.set_value", { time: "06:30" }]],
  [
    "datetime",
    {},
    "2026-11-20T12:00:00Z",
    ["datetime.set_value", { datetime: "2026-11-20T12:00:00Z" }],
  ],
  ["input_datetime", DATE, "2026-12-24", ["input_datetime.set_datetime", { date: "2026-12-24" }]],
  ["input_datetime", TIME, "06:30", ["input_datetime.set_datetime", { time: "06:30" }]],
  [
    "input_datetime",
    BOTH,
    "2026-11-20T12:00",
    ["input_datetime.set_datetime", { datetime: "2026-11-20 12:00" }],
  ],
] as const) {
  test(`${domain} with ${JSON.stringify(attributes)} is a text that is set to ${value}`, () => {
    const of = entity(domain, "unknown", attributes);

    assert.deepEqual(view(of), {
      kind: "sensor",
      capabilities: { value: { type: "text" } },
      state: { value: null },
    });
    assert.deepEqual(calls(of, { value }), [call]);
  });
}

test("a helper without date and time is only shown", () => {
  const of = entity("input_datetime", "12:30:00", {});

  assert.deepEqual(view(of).capabilities, { value: { type: "text", readOnly: true } });
  assert.deepEqual(view(of).state, { value: "12:30:00" });
  assert.deepEqual(calls(of, { value: "12:30" }), []);
});

for (const [domain, asked, state, is] of [
  ["date", "2026-12-24", "2026-12-24", true],
  ["date", "2026-12-24", "2026-12-25", false],
  ["time", "06:30", "06:30:00", true],
  ["time", "06:30:01", "06:30:00", false],
  ["datetime", "2026-11-20T13:00:00+01:00", "2026-11-20T12:00:00+00:00", true],
  ["datetime", "2026-11-20T13:00:00+01:00", "2026-11-20T13:00:00+00:00", false],
  ["datetime", "2026-11-20T12:00:00Z", "unknown", false],
  ["input_datetime", "2026-11-20T12:00", "2026-11-20 12:00:00", true],
  ["input_datetime", "2026-11-20 12:01", "2026-11-20 12:00:00", false],
  ["input_datetime", "some day", "some day", true],
  ["input_datetime", "some day", "another day", false],
  ["input_datetime", "2026-11-20T12:00", "some day", false],
  ["datetime", "2026-11-20T13:00:00+0100", "2026-11-20T12:00:00+00:00", true],
  ["datetime", "2026-11-20T12:00:00z", "2026-11-20T12:00:00+00:00", true],
] as const) {
  test(`${domain} ${asked} is ${is ? "" : "not "}reached with ${state}`, () => {
    const at = (now: string) => entity(domain, now, BOTH);
    assert.equal(isConfirmed({ value: asked }, at("unknown"), at(state)), is);
  });
}

test("an instant without an offset is confirmed by the answer, because its time zone is not known", () => {
  const of = entity("datetime", "2026-11-20T12:00:00+00:00");

  assert.equal(isConfirmedByAnswer({ value: "2026-11-20T13:00:00Z and so on" }, of), true);
  assert.equal(isConfirmedByAnswer({ value: "2026-11-20T13:00:00" }, of), true);
});
