import assert from "node:assert/strict";
import { test } from "node:test";
import { MantelError, type Fault } from "@mantel/plugin-sdk/errors";
import { parseDescriptions, parseUpdates } from "../../../host/devices/parse-devices.ts";
import { lamp } from "./open-devices.ts";

const NUMBER = { type: "number" } as const;
const named = (count: number, value: unknown) =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`value${at}`, value]));
const choice = (count: number) => ({
  type: "choice" as const,
  values: Array.from({ length: count }, (_, at) => `v${at}`),
});

function failureOf(parse: () => unknown): MantelError {
  try {
    parse();
  } catch (error) {
    assert.ok(error instanceof MantelError);
    assert.equal(error.code, "invalid");
    return error;
  }
  return assert.fail("it was accepted");
}

const faultsOf = (parse: () => unknown): readonly Fault[] => failureOf(parse).extras.errors ?? [];
const faultsOfDevice = (device: unknown) => faultsOf(() => parseDescriptions("b", [device]));

test("a device list within all limits is accepted as it is", () => {
  const devices = [
    lamp("a", { capabilities: named(100, { type: "boolean" }) as {}, state: {} }),
    lamp("b", { capabilities: { mode: choice(1_000) }, state: { mode: "v999" } }),
    lamp("c", { capabilities: { level: { ...NUMBER, min: 5, max: 5 } }, state: { level: 5 } }),
    lamp("d", { capabilities: { [`a${"Z9".repeat(31)}z`]: NUMBER }, state: {} }),
  ];

  assert.deepEqual(parseDescriptions("b", devices), devices);
  assert.equal(
    parseDescriptions(
      "b",
      Array.from({ length: 5_000 }, (_, at) => lamp(`${at}`)),
    ).length,
    5_000,
  );
});

test("what is not a list is refused under the name of its bridge", () => {
  for (const input of [undefined, null, {}, "x"]) {
    assert.match(
      failureOf(() => parseDescriptions("hue", input)).message,
      /^the device list of hue is wrong: /,
    );
    assert.match(
      failureOf(() => parseUpdates("hue", input)).message,
      /^an update of hue is wrong: /,
    );
  }
});

test("more than 5000 devices are refused", () => {
  const devices = Array.from({ length: 5_001 }, (_, at) => lamp(`${at}`));

  assert.equal(
    failureOf(() => parseDescriptions("hue", devices)).message,
    "hue publishes 5001 devices; a bridge may have at most 5000",
  );
});

for (const [what, device, fault] of [
  [
    "101 capabilities",
    lamp("a", { capabilities: named(101, NUMBER) as {}, state: {} }),
    { pointer: "/0/capabilities", detail: "has 101 entries; it may have at most 100" },
  ],
  [
    "101 values in its state",
    lamp("a", { state: named(101, 1) as {} }),
    { pointer: "/0/state", detail: "has 101 entries; it may have at most 100" },
  ],
  [
    "1001 choices",
    lamp("a", { capabilities: { mode: choice(1_001) }, state: {} }),
    {
      pointer: "/0/capabilities/mode/values",
      detail: "has 1001 entries; it may have at most 1000",
    },
  ],
  [
    "a range that ends before it begins",
    lamp("a", { capabilities: { level: { ...NUMBER, min: 5, max: 4 } }, state: {} }),
    { pointer: "/0/capabilities/level/min", detail: "is 5, which is above max, 4" },
  ],
  ...["Level", "9lives", "a-b", "a b", "", `a${"b".repeat(64)}`].map(
    (name) =>
      [
        `a capability named "${name}"`,
        lamp("a", { capabilities: { [name]: NUMBER }, state: {} }),
        {
          pointer: `/0/capabilities/${name}`,
          detail: "must be named in camelCase, of letters and digits",
        },
      ] as const,
  ),
] as const) {
  test(`a device with ${what} is refused`, () => {
    assert.deepEqual(faultsOfDevice(device), [fault]);
  });
}

test("two devices with the same native id are refused", () => {
  assert.deepEqual(
    faultsOf(() => parseDescriptions("b", [lamp("a"), lamp("c"), lamp("a")])),
    [{ pointer: "/2/nativeId", detail: "is a, which another device of the list has" }],
  );
});

test("a device that is not an object, or lacks a field, is refused without further faults", () => {
  const { kind: _kind, ...kindless } = lamp("a", { state: { volume: 3 } });

  assert.deepEqual(
    [null, 5, kindless].map((device) => faultsOfDevice(device).map(({ pointer }) => pointer)),
    [["/0"], ["/0"], ["/0/kind"]],
  );
});

test("the faults of a list end at about a thousand, of an update too", () => {
  const wrong = Array.from({ length: 5_000 }, () => ({}));
  const [one, all] = [
    faultsOfDevice({}).length,
    faultsOf(() => parseDescriptions("b", wrong)).length,
  ];
  const updates = faultsOf(() => parseUpdates("b", wrong)).length;

  assert.ok(all >= 1_000 && all < 1_000 + one, String(all));
  assert.equal(updates, 1_000);
});

test("updates within the limits are accepted, and others refused with every fault", () => {
  const right = [{ nativeId: "a", available: true, state: named(100, 1) }, { nativeId: "c" }];
  const wrong = [
    { nativeId: "a", state: named(101, 1) },
    { nativeId: "" },
    { nativeId: "c", available: "yes" },
  ];

  assert.deepEqual(parseUpdates("b", right), right);
  assert.deepEqual(
    faultsOf(() => parseUpdates("b", wrong)).map(({ pointer }) => pointer),
    ["/0/state", "/1/nativeId", "/2/available"],
  );
});
