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
    lamp("b", { capabilities: { effect: choice(1_000) }, state: { effect: "v999" } }),
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

test("a value that is not a list is refused under the name of its bridge", () => {
  for (const input of [undefined, null, {}, "x"]) {
    assert.match(
      failureOf(() => parseDescriptions("hue", input)).message,
      /^the device list of hue is invalid: /,
    );
    assert.match(
      failureOf(() => parseUpdates("hue", input)).message,
      /^an update of hue is invalid: /,
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

test("the faults of a list end at about a thousand, those of an update at a hundred", () => {
  const wrong = Array.from({ length: 5_000 }, () => ({}));
  const [one, all] = [
    faultsOfDevice({}).length,
    faultsOf(() => parseDescriptions("b", wrong)).length,
  ];
  const updates = parseUpdates("b", wrong).faults.length;

  assert.ok(all >= 1_000 && all < 1_000 + one, String(all));
  assert.equal(updates, 100);
});

test("updates within the limits are accepted, and others refused with every fault", () => {
  const right = [{ nativeId: "a", available: true, state: named(100, 1) }, { nativeId: "c" }];
  const wrong = [
    { nativeId: "a", state: named(101, 1) },
    { nativeId: "" },
    { nativeId: "c", available: "yes" },
  ];

  assert.deepEqual(parseUpdates("b", right), { updates: right, faults: [] });
  assert.deepEqual(
    parseUpdates("b", wrong).faults.map(({ pointer }) => pointer),
    ["/state", "/nativeId", "/available"],
  );
});

const part = (id: string, fields: object = {}) => ({
  id,
  kind: "light",
  name: id,
  capabilities: { on: { type: "boolean" } },
  state: {},
  ...fields,
});
const readings = (count: number) =>
  named(count, { ...NUMBER, readOnly: true, group: "diagnostic" });
const parted = (parts: unknown, extra?: unknown) => ({
  ...lamp("a", { capabilities: {}, state: {} }),
  parts,
  ...(extra === undefined ? {} : { extra }),
});

test("parts and extras within the limits are accepted as they are", () => {
  const devices = [
    parted([]),
    parted(Array.from({ length: 50 }, (_, at) => part(`l${at}`))),
    parted([part("light", { state: { on: true } })], { capabilities: readings(199), state: {} }),
    parted([
      part(`a${"-".repeat(39)}`, { kind: "cover", capabilities: { stop: { type: "command" } } }),
    ]),
    parted(undefined, { capabilities: named(200, { ...NUMBER, group: "main" }), state: {} }),
  ].map((device, at) => JSON.parse(JSON.stringify({ ...device, nativeId: `${at}` })));

  assert.deepEqual(parseDescriptions("b", devices), devices);
});

for (const [what, device, fault] of [
  [
    "51 parts",
    parted(Array.from({ length: 51 }, (_, at) => part(`l${at}`))),
    { pointer: "/parts", detail: "has 51 entries; it may have at most 50" },
  ],
  [
    "300 extras",
    parted(undefined, { capabilities: readings(300), state: {} }),
    {
      pointer: "",
      detail: "has 300 capabilities with those of its parts and extras; it may have at most 200",
    },
  ],
  [
    "201 capabilities in parts and extras",
    parted([part("a", { capabilities: named(100, NUMBER) })], {
      capabilities: readings(101),
      state: {},
    }),
    {
      pointer: "",
      detail: "has 201 capabilities with those of its parts and extras; it may have at most 200",
    },
  ],
  [
    "101 capabilities of one part",
    parted([part("a", { capabilities: named(101, NUMBER) })]),
    { pointer: "/parts/0/capabilities", detail: "has 101 entries; it may have at most 100" },
  ],
  [
    "201 values of extras",
    parted(undefined, { capabilities: {}, state: named(201, 1) }),
    { pointer: "/extra/state", detail: "has 201 entries; it may have at most 200" },
  ],
  [
    "the same part twice",
    parted([part("l1"), part("l2"), part("l1")]),
    { pointer: "/parts/2/id", detail: "is l1, which another part of the device has" },
  ],
  [
    "a part under a reserved id",
    parted([part("extra")]),
    { pointer: "/parts/0/id", detail: "is extra, which is reserved" },
  ],
  [
    "a capability named parts",
    lamp("a", { capabilities: { parts: NUMBER }, state: {} }),
    { pointer: "/capabilities/parts", detail: "is reserved; choose another name" },
  ],
  [
    "a capability named extra in a part",
    parted([part("l1", { capabilities: { extra: NUMBER } })]),
    { pointer: "/parts/0/capabilities/extra", detail: "is reserved; choose another name" },
  ],
  [
    "a value of a part that is out of range",
    parted([part("l1", { capabilities: { level: { ...NUMBER, max: 5 } }, state: { level: 6 } })]),
    { pointer: "/parts/0/state/level", detail: "is 6; it must be a number of at most 5" },
  ],
  [
    "a value of an extra that it does not have",
    parted(undefined, { capabilities: {}, state: { turbo: true } }),
    { pointer: "/extra/state/turbo", detail: "has no capability" },
  ],
  [
    "a state of a command",
    lamp("a", {
      kind: "cover",
      capabilities: { stop: { type: "command" } },
      state: { stop: null },
    }),
    { pointer: "/state/stop", detail: "is a command, which has no state" },
  ],
  [
    "a range of a part that ends before it begins",
    parted([part("l1", { capabilities: { level: { ...NUMBER, min: 5, max: 4 } } })]),
    { pointer: "/parts/0/capabilities/level/min", detail: "is 5, which is above max, 4" },
  ],
] as const) {
  test(`a device with ${what} is refused with one reason`, () => {
    const [found, ...others] = faultsOfDevice(device);

    assert.deepEqual(found, { ...fault, pointer: `/0${fault.pointer}` });
    assert.deepEqual(others, []);
  });
}

for (const [what, device, pointer, detail] of [
  [
    "a name of another kind",
    lamp("a", { capabilities: { position: NUMBER }, state: {} }),
    "/0/capabilities/position",
    'belongs to cover, valve, group and not to light; put it under "extra"',
  ],
  [
    "a name in another unit",
    lamp("a", { capabilities: { power: { ...NUMBER, unit: "kWh", readOnly: true } }, state: {} }),
    "/0/capabilities/power",
    'must be a number in W (active power; negative when fed in); use another name under "extra" if it means something else',
  ],
  [
    "a misused name in a part",
    parted([part("l1", { kind: "switch", capabilities: { on: NUMBER } })]),
    "/0/parts/0/capabilities/on",
    'must be of the type boolean (true while it is on); use another name under "extra" if it means something else',
  ],
  [
    "a capability of the vocabulary under extra",
    parted(undefined, {
      capabilities: { battery: { ...NUMBER, unit: "%", readOnly: true, group: "main" } },
      state: {},
    }),
    "/0/extra/capabilities/battery",
    "is a canonical name of light; put it beside the other capabilities, or choose another name",
  ],
] as const) {
  test(`a device with ${what} is refused, and the fault says what to do`, () => {
    assert.deepEqual(faultsOfDevice(device), [{ pointer, detail }]);
  });
}

for (const [what, name, capability] of [
  ["a name of another kind", "position", { ...NUMBER, group: "main" }],
  ["a canonical name in another unit", "signal", { ...NUMBER, unit: "dB", group: "diagnostic" }],
] as const) {
  test(`${what} may be an extra`, () => {
    const device = parted(undefined, {
      capabilities: { [name]: capability },
      state: { [name]: 3 },
    });

    assert.deepEqual(parseDescriptions("b", [device]), [device]);
  });
}

for (const [what, device, pointer] of [
  ["two kinds", { ...lamp("a"), kind: ["light", "switch"] }, "/0/kind"],
  ["an unknown kind of a part", parted([part("l1", { kind: "lamp" })]), "/0/parts/0/kind"],
  ["a part named __proto__", parted([part("__proto__")]), "/0/parts/0/id"],
  ["parts by id", parted({ light: part("light") }), "/0/parts"],
  ["null as parts", parted(null), "/0/parts"],
  ["a list of extras", parted(undefined, []), "/0/extra"],
  [
    "an extra without a group",
    parted(undefined, { capabilities: { turbo: NUMBER }, state: {} }),
    "/0/extra/capabilities/turbo/group",
  ],
  [
    "a step of zero",
    lamp("a", { capabilities: { speed: { ...NUMBER, step: 0 } }, state: {} }),
    "/0/capabilities/speed/step",
  ],
] as const) {
  test(`a device with ${what} is refused`, () => {
    assert.deepEqual(
      faultsOfDevice(device).map((fault) => fault.pointer),
      [pointer],
    );
  });
}

test("updates of parts and extras have the same limits", () => {
  const right = [
    { nativeId: "a", parts: { l1: named(100, 1) }, extra: named(200, 1) },
    { nativeId: "a", parts: {}, extra: {} },
  ];
  const ids = Array.from({ length: 51 }, (_, at) => [`l${at}`, {}]);
  const wrong = [
    { nativeId: "a", parts: { l1: named(101, 1) } },
    { nativeId: "a", extra: named(201, 1) },
    { nativeId: "a", parts: Object.fromEntries(ids) },
    { nativeId: "a", parts: JSON.parse('{"__proto__": {"on": true}}') },
    { nativeId: "a", parts: [] },
    { nativeId: "a", extra: null },
    { nativeId: "a", parts: { l1: null } },
  ];

  assert.deepEqual(parseUpdates("b", right), { updates: right, faults: [] });
  assert.deepEqual(
    parseUpdates("b", wrong).faults.map(({ pointer }) => pointer),
    ["/parts/l1", "/extra", "/parts", "/parts/__proto__", "/parts", "/extra", "/parts/l1"],
  );
});
