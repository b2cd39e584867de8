import assert from "node:assert/strict";
import { test } from "node:test";
import { faultsOfCommand, faultsOfState, faultsOfValue } from "@mantel/plugin-sdk/capability";
import type { Capabilities } from "@mantel/plugin-sdk/device";

const LAMP: Capabilities = {
  on: { type: "boolean" },
  brightness: { type: "number", min: 0, max: 100, step: 1, unit: "%" },
  power: { type: "number", unit: "W", readOnly: true },
};

test("a number out of range is refused with the range", () => {
  const detail = (capability: object, value: unknown) =>
    faultsOfValue({ type: "number", ...capability }, value)[0]?.detail;

  assert.equal(
    detail({ min: 0, max: 100, unit: "%" }, 120),
    "is 120; it must be a number from 0 to 100 %",
  );
  assert.equal(detail({ min: 5 }, 4.9), "is 4.9; it must be a number of at least 5");
  assert.equal(detail({ max: 5 }, 6), "is 6; it must be a number of at most 5");
  assert.equal(detail({ unit: "W" }, "7"), 'is "7"; it must be a number in W');
  assert.equal(detail({}, Number.NaN), "is null; it must be a number");
});

test("a long value is shown up to a whole character", () => {
  const values = ["😀".repeat(201), `a${"😀".repeat(201)}`];

  const details = values.flatMap((value) =>
    faultsOfValue({ type: "choice", values }, [value]).map(({ detail }) => detail),
  );

  assert.equal(details.length, 2);
  for (const detail of details) assert.ok(detail.isWellFormed(), detail);
});

test("the ends of a range and steps in between are allowed", () => {
  const brightness = { type: "number", min: 0, max: 100, step: 1 } as const;

  assert.deepEqual(
    [0, 100, 33.3].flatMap((value) => faultsOfValue(brightness, value)),
    [],
  );
});

test("each type accepts only its own values", () => {
  const wrong = [
    faultsOfValue({ type: "boolean" }, 1),
    faultsOfValue({ type: "choice", values: ["a", "b"] }, "c"),
    faultsOfValue({ type: "choice", values: ["a", "b"] }, ["a"]),
    faultsOfValue({ type: "text" }, "x".repeat(1_001)),
    faultsOfValue({ type: "color" }, { hue: 361, saturation: 5 }),
    faultsOfValue({ type: "color" }, "#ff0000"),
    faultsOfValue({ type: "number" }, null),
  ];
  const right = [
    faultsOfValue({ type: "boolean" }, false),
    faultsOfValue({ type: "choice", values: ["a", "b"] }, "b"),
    faultsOfValue({ type: "text" }, ""),
    faultsOfValue({ type: "color" }, { hue: 360, saturation: 0 }),
  ];

  assert.deepEqual(
    wrong.map((faults) => faults.length),
    [1, 1, 1, 1, 1, 1, 1],
  );
  assert.deepEqual(right.flat(), []);
});

test("a command with values that the device does not support is refused", () => {
  const faults = faultsOfCommand(LAMP, {
    power: 5,
    "a/b": 1,
    toString: 1,
    on: true,
    brightness: -1,
  });

  assert.deepEqual(faults, [
    { pointer: "/power", detail: "is read-only; it takes on, brightness" },
    { pointer: "/a~1b", detail: "is not a capability of the device; it takes on, brightness" },
    { pointer: "/toString", detail: "is not a capability of the device; it takes on, brightness" },
    { pointer: "/brightness", detail: "is -1; it must be a number from 0 to 100 %" },
  ]);
});

test("a state may hold read-only values and unknown ones, and nothing without a capability", () => {
  assert.deepEqual(faultsOfState(LAMP, { on: null, power: 4 }), []);
  assert.deepEqual(faultsOfState(LAMP, { hasOwnProperty: 1 }), [
    { pointer: "/hasOwnProperty", detail: "has no capability" },
  ]);
});

test("a refused value is shown with what its capability takes", () => {
  const effects = { type: "choice" as const, values: ["none", "candle"] };
  const long = "x".repeat(1_001);

  const details = [
    faultsOfValue({ type: "boolean" }, "yes"),
    faultsOfValue(effects, undefined),
    faultsOfValue({ type: "text" }, long),
    faultsOfValue({ type: "text" }, 5),
    faultsOfValue({ type: "number", min: 0, unit: "W" }, -1),
  ].map(([fault]) => fault?.detail);

  assert.deepEqual(details, [
    'is "yes"; it must be true or false',
    'is absent; it must be one of "none", "candle"',
    `is "${long.slice(0, 59)}…; it must be a text of at most 1000 characters`,
    "is 5; it must be a text of at most 1000 characters",
    "is -1; it must be a number of at least 0 W",
  ]);
});

test("a text may have a thousand characters, and a number of any size is one", () => {
  const texts = ["x".repeat(1_000), ""].map((text) => faultsOfValue({ type: "text" }, text));
  const numbers = [-1e300, 1e300].map((number) => faultsOfValue({ type: "number" }, number));
  const infinite = faultsOfValue({ type: "number" }, Infinity);

  assert.deepEqual([...texts, ...numbers].flat(), []);
  assert.equal(infinite.length, 1);
});

test("a refused value of sixty characters is shown whole", () => {
  const [fault] = faultsOfValue({ type: "boolean" }, "x".repeat(58));

  assert.equal(fault?.detail, `is "${"x".repeat(58)}"; it must be true or false`);
});

test("a command to a device that only reports is refused with that reason", () => {
  const sensor: Capabilities = { power: { type: "number", readOnly: true } };

  assert.deepEqual(faultsOfCommand(sensor, { power: 5, on: true }), [
    { pointer: "/power", detail: "is read-only; the device takes no commands" },
    { pointer: "/on", detail: "is not a capability of the device; the device takes no commands" },
  ]);
});

test("the faults of a state name the value and its part", () => {
  const capabilities: Capabilities = { color: { type: "color" }, on: { type: "boolean" } };

  const faults = faultsOfState(capabilities, { color: { hue: 361, saturation: 5 }, on: 1 });

  assert.deepEqual(
    faults.map(({ pointer }) => pointer),
    ["/color/hue", "/on"],
  );
});
