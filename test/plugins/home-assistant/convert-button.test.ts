import assert from "node:assert/strict";
import { test } from "node:test";
import { eventOf, EventTimes } from "../../../plugins/home-assistant/convert-button.ts";
import { calls, entity, isConfirmed, view } from "./entity.ts";

for (const domain of ["button", "input_button"]) {
  test(`an entity of ${domain} is pressed, which the time of its last press confirms`, () => {
    const [before, now] = [entity(domain, "2026-01-01"), entity(domain, "2026-01-02")];

    assert.deepEqual(view(before).capabilities, { press: { type: "command" } });
    assert.deepEqual(calls(before, { press: true }), [[`${domain}.press`]]);
    assert.equal(isConfirmed({ press: true }, before, before), false);
    assert.equal(isConfirmed({ press: true }, before, now), true);
  });
}

for (const [device_class, kind] of [
  ["button", "button"],
  ["doorbell", "doorbell"],
  ["motion", "sensor"],
  [undefined, "button"],
  ["toString", "button"],
] as const) {
  test(`an event entity of the class ${device_class} is a ${kind} with its last action`, () => {
    const attributes = { device_class, event_types: ["single", "double"], event_type: "double" };
    const of = view(entity("event", "2026-11-20T12:00:00+00:00", attributes));

    assert.equal(of.kind, kind);
    assert.deepEqual(of.capabilities, {
      lastAction: { type: "choice", values: ["single", "double"], readOnly: true },
    });
    assert.deepEqual(of.state, { lastAction: "double" });
  });
}

test("an event entity without a list of types tells its last action as a text", () => {
  const of = view(entity("event", "unknown", { event_type: null }));

  assert.deepEqual(of.capabilities, { lastAction: { type: "text", readOnly: true } });
  assert.deepEqual(of.state, { lastAction: null });
});

test("the details of an event are its own attributes, in camel case, as far as they are plain", () => {
  const of = (attributes: object, state = "2026-11-20T12:00:00+00:00") =>
    eventOf(entity("event", state, { event_type: "turn", ...attributes }));

  assert.deepEqual(
    of({
      friendly_name: "Dial",
      event_types: ["turn"],
      device_class: "button",
      icon: "x",
      supported_features: 1,
      assumed_state: true,
      entity_picture: "x",
      restored: true,
      attribution: "x",
      text: "x".repeat(200),
      multi_press_count: 2,
      is_fast: true,
      side: "left",
      "odd name": 1,
      _: 1,
      list: [1],
      nothing: null,
      long: "x".repeat(201),
      bad: NaN,
    }),
    {
      event: "turn",
      data: { text: "x".repeat(200), multiPressCount: 2, isFast: true, side: "left" },
    },
  );
  assert.deepEqual(of({}), { event: "turn" });
  assert.equal(of({}, "unknown"), undefined);
  assert.equal(of({ event_type: "x".repeat(101) })?.event, "x".repeat(100));
  assert.equal(of({ event_type: null }), undefined);
  const many = Object.fromEntries(Array.from({ length: 30 }, (_, at) => [`d${at}`, at]));
  assert.equal(Object.keys(of(many)?.data ?? {}).length, 20);
});

test("only an event that happened while it was followed is new", () => {
  const times = new EventTimes();
  const at = (state: string, domain = "event") => entity(domain, state);
  times.reset([at("12:00"), at("12:00", "button")]);

  assert.deepEqual(
    ["12:00", "12:01", "12:01", "unavailable", "12:01", "12:02"].map((state) =>
      times.isNew(at(state)),
    ),
    [false, true, false, false, false, true],
  );
  assert.equal(times.isNew(at("12:01", "button")), false);
  assert.equal(times.isNew(at("12:02", "button")), false);
  times.reset([at("12:05")]);
  assert.deepEqual([times.isNew(at("12:05")), times.isNew(at("12:06"))], [false, true]);
  times.reset([]);
  assert.equal(times.isNew(at("12:07")), false);
  const others = new EventTimes();
  assert.deepEqual([others.isNew(at("unknown")), others.isNew(at("12:00"))], [false, true]);
});
