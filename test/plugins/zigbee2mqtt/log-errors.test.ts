import assert from "node:assert/strict";
import { test } from "node:test";
import { findLoggedError, findRefusal } from "../../../plugins/zigbee2mqtt/log-errors.ts";

const find = (message: string) => findLoggedError({ level: "error", message });

for (const prefix of ["", "z2m: "]) {
  test(`an unreachable device is the error deadline_passed, with the log prefix "${prefix}"`, () => {
    const found = find(`${prefix}Publish 'set' 'state' to 'lamp 1' failed: 'Error: timed out'`);

    assert.equal(found?.name, "lamp 1");
    assert.equal(found.isOfScene, false);
    assert.equal(found.error.code, "deadline_passed");
    assert.equal(
      found.error.message,
      "lamp 1: it does not answer; it may be asleep, out of range or without power (timed out)",
    );
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
    assert.match(
      found.error.message,
      /^plug: it does not take effect \(.*'effect' on 'plug': \(blink\)\)$/,
    );
  });
}

const CALL = 'ZCL command 0x00158d0001/1 genOnOff.on({}, {"timeout":10000}) failed';

for (const [why, code, words] of [
  [`${CALL} (Timeout - 5 - 1 - 2 - 6 - 11 after 10000ms)`, "deadline_passed", "does not answer"],
  ["time out", "deadline_passed", "does not answer"],
  ["no response received", "deadline_passed", "does not answer"],
  [
    `${CALL} (Data request failed with error: 'No network route' (205))`,
    "deadline_passed",
    "out of range",
  ],
  [
    `${CALL} (Data request failed with error: 'MAC_NO_ACK' (233))`,
    "deadline_passed",
    "out of range",
  ],
  [`${CALL} (Delivery failed for '1234'.)`, "deadline_passed", "out of range"],
  [
    `${CALL} (Data request failed with error: 'MAC_CHANNEL_ACCESS_FAILURE' (225))`,
    ...(["deadline_passed", "busy or disturbed"] as const),
  ],
  [
    `${CALL} (Data request failed with error: 'MAC_TRANSACTION_EXPIRED' (240))`,
    ...(["deadline_passed", "asleep"] as const),
  ],
  ["Data request failed with error", "deadline_passed", "could not send the message"],
  [`${CALL} (SRSP - AF - dataRequest after 6000ms)`, "bridge_down", "adapter does not answer"],
  ["Adapter disconnected", "bridge_down", "adapter does not answer"],
  [`${CALL} (Failed to send request with status=BUSY.)`, "deadline_passed", "adapter is busy"],
  [`${CALL} (Status 'UNSUPPORTED_ATTRIBUTE')`, "invalid", "does not support this"],
  [`${CALL} (Status 'UNSUP_CLUSTER_COMMAND')`, "invalid", "does not support this"],
  [`${CALL} (Status 'INVALID_VALUE')`, "invalid", "does not take this value"],
  [`${CALL} (Status 'READ_ONLY')`, "invalid", "cannot be changed"],
  [`${CALL} (Status 'NOT_AUTHORIZED')`, "invalid", "does not permit this"],
  [`${CALL} (Status 'INSUFFICIENT_SPACE')`, "invalid", "memory is full"],
  [`${CALL} (Status 'FAILURE')`, "invalid", "refused the command"],
  ["value 300 is out of bounds", "invalid", "lamp: value 300 is out of bounds"],
] as const) {
  test(`a command that failed with "${why.replace(CALL, "")}" is the error ${code}: ${words}`, () => {
    const error = find(`Publish 'set' 'x' to 'lamp' failed: 'Error: ${why}'`)?.error;
    const shown = /failed \((.*)\)$/.exec(why)?.[1] ?? why;

    assert.equal(error?.code, code);
    assert.ok(error.message.includes(words), error.message);
    assert.ok(
      error.message.includes(shown) && !error.message.includes("ZCL command"),
      error.message,
    );
  });
}

for (const [message, name, words] of [
  ["Cannot publish to unsupported device 'a'", "a", "a: Zigbee2MQTT does not support the device"],
  ["Device 'a' has no endpoint 'left'", "a", "a: it has no endpoint left"],
] as const) {
  test(`${message} is an error of ${name}`, () => {
    assert.deepEqual([find(message)?.name, find(message)?.error.message], [name, words]);
  });
}

for (const [payload, reason] of [
  [
    { status: "error", error: "Failed to remove device 'a' (Error: Timeout - 1)" },
    /^it does not answer.*\(Failed to remove device 'a' \(Error: Timeout - 1\)\)$/,
  ],
  [
    { status: "error", error: "Device 'b' does not exist", data: {} },
    /^Device 'b' does not exist$/,
  ],
] as const) {
  test(`the refusal of ${payload.error} is reported in plain words`, () => {
    assert.match(findRefusal(payload) ?? "", reason);
  });
}

for (const payload of [{ status: "ok", data: {} }, { status: "error" }, null, 7, undefined]) {
  test(`${JSON.stringify(payload)} is not a refusal`, () => {
    assert.equal(findRefusal(payload), undefined);
  });
}

test("a failed command may name no value, and its reason may be empty, unquoted or of many lines", () => {
  assert.equal(find("Publish 'set' '' to 'a' failed: 'x'")?.name, "a");
  assert.equal(find("Publish 'set' 'x' to 'a' failed: ")?.error.message, "a: ");
  assert.equal(find("Publish 'set' 'x' to 'a' failed: one\ntwo")?.error.message, "a: one\ntwo");
});

test("a failed scene is distinguished from a failed value", () => {
  assert.equal(find("Publish 'set' 'scene_recall' to 'a' failed: 'x'")?.isOfScene, true);
});

test("a reason is shortened to 300 characters", () => {
  const found = find(`Publish 'set' 'x' to 'a' failed: '${"r".repeat(500)}'`);
  const refused = find(`No converter available for 'x' on 'a' ${"r".repeat(500)}`);

  assert.equal(found?.error.message, `a: ${"r".repeat(300)}`);
  assert.equal(refused?.error.message.length, "a: it does not take x ()".length + 300);
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
