import assert from "node:assert/strict";
import { test } from "node:test";
import { calls, entity, isConfirmedByAnswer, view } from "./entity.ts";

const YES_NO = { type: "boolean", readOnly: true } as const;

for (const [state, on, streaming, recording] of [
  ["idle", null, false, false],
  ["streaming", true, true, false],
  ["recording", true, false, true],
  ["unknown", null, null, null],
] as const) {
  test(`a camera that is ${state} is ${JSON.stringify({ on, streaming, recording })}`, () => {
    const of = view(entity("camera", state, { supported_features: 1 }));

    assert.equal(of.kind, "camera");
    assert.deepEqual(of.capabilities, {
      ...{ on: { type: "boolean" }, streaming: YES_NO, recording: YES_NO },
    });
    assert.deepEqual(of.state, { on, streaming, recording });
  });
}

test("a camera tells if it detects motion, and is turned on and off if it can be", () => {
  const of = entity("camera", "idle", { motion_detection: true, supported_features: 1 });

  assert.equal(
    "on" in view(entity("camera", "idle", { supported_features: 2 })).capabilities,
    false,
  );
  assert.deepEqual(view(of).extra, {
    capabilities: { motionDetection: { ...YES_NO, group: "configuration" } },
    state: { motionDetection: true },
  });
  assert.deepEqual(calls(of, { on: true }), [["camera.turn_on"]]);
  assert.deepEqual(calls(of, { on: false }), [["camera.turn_off"]]);
  assert.equal(isConfirmedByAnswer({ on: false }, of), true);
});

test("a calendar is a yes or no, with its event as extras", () => {
  const of = view(
    entity("calendar", "off", {
      ...{ message: "Dentist", all_day: false, location: "Main Street", description: "" },
      ...{ start_time: "2026-11-21 09:00:00", end_time: "2026-11-21 09:30:00" },
    }),
  );

  assert.deepEqual([of.kind, of.capabilities], ["binary-sensor", { active: YES_NO }]);
  assert.deepEqual(of.state, { active: false });
  assert.deepEqual(of.extra?.state, {
    ...{ title: "Dentist", start: "2026-11-21 09:00:00", end: "2026-11-21 09:30:00" },
    ...{ location: "Main Street", description: null, allDay: false },
  });
  const empty = view(entity("calendar", "unknown"));
  assert.deepEqual(empty.state, { active: null });
  assert.deepEqual(empty.extra?.state, {
    ...{ title: null, start: null, end: null, location: null, description: null, allDay: false },
  });
});
