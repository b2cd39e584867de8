import assert from "node:assert/strict";
import { test } from "node:test";
import { entity, view } from "./entity.ts";

const YES_NO = { type: "boolean", readOnly: true } as const;
const TEXT = { type: "text", readOnly: true } as const;
const POSITION = {
  latitude: { type: "number", unit: "°", readOnly: true, min: -90, max: 90 },
  longitude: { type: "number", unit: "°", readOnly: true, min: -180, max: 180 },
  accuracy: { type: "number", min: 0, unit: "m", readOnly: true },
} as const;

for (const [domain, attributes, more] of [
  ["device_tracker", { source_type: "router" }, {}],
  ["device_tracker", { source_type: "gps" }, POSITION],
  ["device_tracker", { latitude: 1, longitude: 2 }, POSITION],
  ["person", {}, POSITION],
] as const) {
  test(`${domain} with ${JSON.stringify(attributes)} is a tracker with ${JSON.stringify(Object.keys(more))}`, () => {
    const of = view(entity(domain, "home", attributes));
    assert.deepEqual(
      [of.kind, of.capabilities],
      ["tracker", { home: YES_NO, zone: TEXT, ...more }],
    );
  });
}

for (const [state, home, zone] of [
  ["home", true, null],
  ["not_home", false, null],
  ["Work", false, "Work"],
  ["unknown", null, null],
] as const) {
  test(`a tracker that is ${state} is ${JSON.stringify({ home, zone })}`, () => {
    const of = view(entity("device_tracker", state, { source_type: "router" }));
    assert.deepEqual(of.state, { home, zone });
  });
}

test("a tracker shows where it is, and its battery", () => {
  const attributes = { source_type: "gps", latitude: 52.5, longitude: 13.4, gps_accuracy: 12 };
  const of = view(entity("device_tracker", "not_home", { ...attributes, battery_level: 64 }));

  assert.deepEqual(of.state, {
    home: false,
    zone: null,
    latitude: 52.5,
    longitude: 13.4,
    accuracy: 12,
    battery: 64,
  });
  assert.deepEqual(of.capabilities["battery"], {
    type: "number",
    min: 0,
    max: 100,
    step: 1,
    unit: "%",
    readOnly: true,
  });
});

test("coordinates that a person has no more, or that are impossible, are unknown", () => {
  assert.deepEqual(view(entity("person", "home")).state, {
    home: true,
    zone: null,
    latitude: null,
    longitude: null,
    accuracy: null,
  });
  const odd = { latitude: 91, longitude: -181, gps_accuracy: -1 };
  assert.deepEqual(view(entity("person", "home", odd)).state, {
    home: true,
    zone: null,
    latitude: null,
    longitude: null,
    accuracy: null,
  });
});
