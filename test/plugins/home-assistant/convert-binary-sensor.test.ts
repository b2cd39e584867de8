import assert from "node:assert/strict";
import { test } from "node:test";
import { READINGS } from "@mantel/plugin-sdk/vocabulary";
import { entity, view } from "./entity.ts";

for (const [device_class, field, on] of [
  ["battery", "batteryLow", true],
  ["battery_charging", "charging", true],
  ["carbon_monoxide", "carbonMonoxide", true],
  ["cold", "cold", true],
  ["connectivity", "connected", true],
  ["door", "contact", false],
  ["garage_door", "contact", false],
  ["gas", "gas", true],
  ["heat", "hot", true],
  ["light", "lightDetected", true],
  ["moisture", "waterLeak", true],
  ["motion", "motion", true],
  ["moving", "moving", true],
  ["occupancy", "occupancy", true],
  ["opening", "contact", false],
  ["plug", "pluggedIn", true],
  ["power", "poweredOn", true],
  ["presence", "presence", true],
  ["problem", "problem", true],
  ["running", "running", true],
  ["safety", "unsafe", true],
  ["smoke", "smoke", true],
  ["sound", "sound", true],
  ["tamper", "tamper", true],
  ["update", "updateAvailable", true],
  ["vibration", "vibration", true],
  ["window", "contact", false],
  ["humidity", "active", true],
  ["toString", "active", true],
  [undefined, "active", true],
] as const) {
  test(`on of a binary sensor of the class ${device_class} is ${field}: ${on}`, () => {
    const of = (state: string) => view(entity("binary_sensor", state, { device_class }));

    assert.deepEqual(of("on").capabilities, { [field]: { type: "boolean", readOnly: true } });
    assert.deepEqual(of("on").state, { [field]: on });
    assert.deepEqual(of("off").state, { [field]: !on });
    assert.deepEqual(of("unknown").state, { [field]: null });
    if (field !== "active") assert.deepEqual(READINGS[field]?.types, ["boolean"]);
  });
}

test("a binary sensor at a lock tells as an extra that it is unlocked", () => {
  const { capabilities, state, extra } = view(
    entity("binary_sensor", "on", { device_class: "lock" }),
  );

  assert.deepEqual(capabilities, { active: { type: "boolean", readOnly: true } });
  assert.deepEqual([state, extra?.state], [{ active: true }, { unlocked: true }]);
});
