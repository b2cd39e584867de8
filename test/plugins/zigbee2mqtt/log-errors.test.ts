import assert from "node:assert/strict";
import { test } from "node:test";
import { findLoggedError } from "../../../plugins/zigbee2mqtt/log-errors.ts";

const find = (message: string) => findLoggedError({ level: "error", message });

for (const prefix of ["", "z2m: "]) {
  test(`an unreachable device is the error deadline_passed, with the log prefix "${prefix}"`, () => {
    const found = find(`${prefix}Publish 'set' 'state' to 'lamp 1' failed: 'Error: timed out'`);

    assert.equal(found?.name, "lamp 1");
    assert.equal(found.isOfScene, false);
    assert.equal(found.error.code, "deadline_passed");
    assert.equal(found.error.message, "lamp 1: Error: timed out");
  });

  test(`an unknown name is the error device_unknown, with the log prefix "${prefix}"`, () => {
    const found = find(`${prefix}Entity 'my lamp' is unknown`);

    assert.equal(found?.name, "my lamp");
    assert.equal(found.isOfScene, false);
    assert.equal(found.error.code, "device_unknown");
    assert.match(found.error.message, /my lamp.*renamed/);
  });

  test(`a value that a device does not take is the error invalid, with the log prefix "${prefix}"`, () => {
    const found = find(`${prefix}No converter available for 'effect' on 'plug': (blink)`);

    assert.equal(found?.name, "plug");
    assert.equal(found.isOfScene, false);
    assert.equal(found.error.code, "invalid");
    assert.match(found.error.message, /^plug does not take this: .*'effect' on 'plug': \(blink\)$/);
  });
}

for (const [why, code] of [
  ["Timeout - 5 - 1", "deadline_passed"],
  ["time out", "deadline_passed"],
  ["No network route", "deadline_passed"],
  ["no response received", "deadline_passed"],
  ["Delivery failed for 1", "deadline_passed"],
  ["MAC_NO_ACK", "deadline_passed"],
  ["Data request failed with error", "deadline_passed"],
  ["value 300 is out of range", "invalid"],
] as const) {
  test(`a command that failed with "${why}" is the error ${code}`, () => {
    assert.equal(find(`Publish 'set' 'x' to 'lamp' failed: '${why}'`)?.error.code, code);
  });
}

test("a failed command may name no value, and its reason may be empty, unquoted or of many lines", () => {
  assert.equal(find("Publish 'set' '' to 'a' failed: 'x'")?.name, "a");
  assert.equal(find("Publish 'set' 'x' to 'a' failed: ")?.error.message, "a: ");
  assert.equal(find("Publish 'set' 'x' to 'a' failed: one\ntwo")?.error.message, "a: one\ntwo");
});

test("a failed scene is told from a failed value", () => {
  assert.equal(find("Publish 'set' 'scene_recall' to 'a' failed: 'x'")?.isOfScene, true);
});

test("a reason is shortened to 300 characters", () => {
  const found = find(`Publish 'set' 'x' to 'a' failed: '${"r".repeat(500)}'`);
  const refused = find(`No converter available for 'x' on 'a' ${"r".repeat(500)}`);

  assert.equal(found?.error.message, `a: ${"r".repeat(300)}`);
  assert.equal(refused?.error.message.length, "a does not take this: ".length + 300);
});

for (const payload of [
  { level: "info", message: "Entity 'a' is unknown" },
  { level: "error", message: 7 },
  { level: "error", message: "Failed to ping 'a'" },
  { level: "error", message: "about: Publish 'set' 'x' to 'a' failed: 'x'" },
  { level: "error", message: "about: Entity 'a' is unknown" },
  { level: "error", message: "about: No converter available for 'x' on 'a'" },
  {},
  null,
  undefined,
]) {
  test(`${JSON.stringify(payload)} is not the error of a command`, () => {
    assert.equal(findLoggedError(payload), undefined);
  });
}
