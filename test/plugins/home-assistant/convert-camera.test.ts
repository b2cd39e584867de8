import assert from "node:assert/strict";
import { test } from "node:test";
import { calls, entity, isConfirmedByAnswer, view } from "./entity.ts";

const YES_NO = { type: "boolean", readOnly: true } as const;

const COMMAND = { type: "command", group: "main" } as const;
const DETECTION = { motionDetection: { ...YES_NO, group: "configuration" } } as const;

for (const [state, streaming, recording] of [
  ["idle", false, false],
  ["streaming", true, false],
  ["recording", false, true],
  ["unknown", null, null],
] as const) {
  test(`a camera that is ${state} is ${JSON.stringify({ streaming, recording })}`, () => {
    const of = view(entity("camera", state, { supported_features: 2 }));

    assert.deepEqual([of.kind, of.image], ["camera", true]);
    assert.deepEqual(of.capabilities, { streaming: YES_NO, recording: YES_NO });
    assert.deepEqual(of.state, { streaming, recording });
    assert.deepEqual(of.extra, { capabilities: DETECTION, state: { motionDetection: false } });
  });
}

test("an image is a camera that has only a picture", () => {
  const of = view(entity("image", "2026-11-20T12:00:00+00:00"));

  assert.deepEqual(of, { kind: "camera", capabilities: {}, state: {}, image: true });
});

test("a camera with the feature is turned on and off, which its state does not show", () => {
  const of = entity("camera", "idle", { motion_detection: true, supported_features: 1 });

  assert.deepEqual(view(of).extra, {
    capabilities: { turnOn: COMMAND, turnOff: COMMAND, ...DETECTION },
    state: { motionDetection: true },
  });
  assert.deepEqual(calls(of, { turnOn: true }), [["camera.turn_on"]]);
  assert.deepEqual(calls(of, { turnOff: true }), [["camera.turn_off"]]);
  assert.equal(isConfirmedByAnswer({ turnOff: true }, of), true);
});

test("a calendar is a yes or no, with its event as extras", () => {
  const of = view(
    entity("calendar", "off", {
      message: "Dentist",
      all_day: false,
      location: "Main Street",
      description: "",
      start_time: "2026-11-21 09:00:00",
      end_time: "2026-11-21 09:30:00",
    }),
  );

  assert.deepEqual([of.kind, of.capabilities], ["binary-sensor", { active: YES_NO }]);
  assert.deepEqual(of.state, { active: false });
  assert.deepEqual(of.extra?.state, {
    title: "Dentist",
    start: "2026-11-21 09:00:00",
    end: "2026-11-21 09:30:00",
    location: "Main Street",
    description: null,
    allDay: false,
  });
  const fair = { message: "Fair", all_day: true, description: "All week" };
  const { extra } = view(entity("calendar", "on", fair));
  assert.deepEqual([extra?.state["allDay"], extra?.state["description"]], [true, "All week"]);
  const empty = view(entity("calendar", "unknown"));
  assert.deepEqual(empty.state, { active: null });
  assert.deepEqual(empty.extra?.state, {
    title: null,
    start: null,
    end: null,
    location: null,
    description: null,
    allDay: false,
  });
});
