import assert from "node:assert/strict";
import { test } from "node:test";
import type { DeviceDescription, DeviceKind } from "@mantel/plugin-sdk";
import {
  areCompositions,
  type DeviceFunction,
  JoinedDevices,
} from "@mantel/plugin-sdk/joined-devices";

const SWITCH = { type: "boolean" } as const;
const PERCENT = { type: "number", min: 0, max: 100, step: 1, unit: "%" } as const;
const CELSIUS = { type: "number", unit: "°C", readOnly: true } as const;
const NOTHING = { parts: {}, extra: {} };

type Change = Partial<Omit<DeviceFunction, "device">> & {
  readonly device?: Partial<DeviceDescription>;
};

/** A function of the device "box". */
function functionOf(kind: DeviceKind, id: string, { device, ...change }: Change = {}) {
  const described: DeviceDescription = {
    nativeId: id,
    kind,
    name: `Box ${id}`,
    capabilities: { on: SWITCH },
    state: { on: false },
    ...device,
  };
  return { group: "box", groupName: "Box", partName: id, ...change, device: described };
}

const reading = (id: string, device: Partial<DeviceDescription>, partName = id) =>
  functionOf("sensor", id, { partName, isReading: true, device });

const fan = () =>
  functionOf("fan", "fan", {
    device: { capabilities: { on: SWITCH, speed: PERCENT }, state: { on: true, speed: 30 } },
  });
const light = () =>
  functionOf("light", "light", {
    device: {
      capabilities: { on: SWITCH, brightness: PERCENT },
      state: { on: true, brightness: 9 },
    },
  });
const relays = (count: number) =>
  Array.from({ length: count }, (_, at) => functionOf("switch", `relay ${at + 1}`));

/** The devices as their ids, with those of their parts. */
const inShort = (devices: readonly DeviceDescription[]) =>
  devices.map(({ nativeId, parts }) =>
    parts ? `${nativeId}: ${parts.map(({ id }) => id).join(", ")}` : nativeId,
  );

test("the most important function is the device, and others are its parts", () => {
  const [device, ...rest] = new JoinedDevices({}).join([fan(), light()]);

  assert.deepEqual(rest, []);
  assert.deepEqual(device, {
    nativeId: "fan",
    kind: "fan",
    name: "Box",
    available: true,
    capabilities: { on: SWITCH, speed: PERCENT },
    state: { on: true, speed: 30 },
    parts: [
      {
        id: "light",
        kind: "light",
        name: "light",
        capabilities: { on: SWITCH, brightness: PERCENT },
        state: { on: true, brightness: 9 },
      },
    ],
  });
});

test("alike switches are all parts", () => {
  const [strip] = new JoinedDevices({}).join(relays(3));

  assert.deepEqual(inShort(strip ? [strip] : []), ["relay 1: relay-1, relay-2, relay-3"]);
  assert.deepEqual(strip?.capabilities, {});
});

test("a command of one function does not reach another", () => {
  const joined = new JoinedDevices({});
  joined.join([fan(), light(), functionOf("light", "alone", { group: undefined })]);

  assert.deepEqual(joined.shares("fan", { on: false }, NOTHING), [
    { nativeId: "fan", command: { on: false }, extra: {} },
  ]);
  assert.deepEqual(joined.shares("fan", {}, { parts: { light: { on: false } }, extra: {} }), [
    { nativeId: "light", command: { on: false }, extra: {} },
  ]);
  assert.deepEqual(joined.shares("alone", { on: true }, NOTHING), [
    { nativeId: "alone", command: { on: true }, extra: {} },
  ]);
  assert.throws(() => joined.shares("fan", { brightness: 5 }, NOTHING), { code: "invalid" });
});

test("changes of functions are changes of the device and its parts", () => {
  const joined = new JoinedDevices({});
  joined.join([fan(), light()]);

  assert.deepEqual(
    joined.updates([
      { nativeId: "light", state: { brightness: 50 } },
      { nativeId: "fan", state: { speed: 60 } },
    ]),
    [
      { nativeId: "fan", parts: { light: { brightness: 50 } } },
      { nativeId: "fan", state: { speed: 60 } },
    ],
  );
  assert.equal(joined.deviceOf("light"), "fan");
});

test("readings are values of the device, and those without a free name are extras", () => {
  const heater = functionOf("thermostat", "trv", {
    device: { capabilities: { temperature: CELSIUS }, state: { temperature: 20 } },
  });
  const window = {
    capabilities: { contact: { ...SWITCH, readOnly: true } },
    state: { contact: true },
  };
  const probe = { capabilities: { temperature: CELSIUS }, state: { temperature: 50 } };
  const valve = { capabilities: { value: PERCENT }, state: { value: 40 } };
  const joined = new JoinedDevices({});

  const [device] = joined.join([
    heater,
    reading("window", window),
    reading("probe", probe),
    reading("opening", valve, "valve opening"),
  ]);

  assert.deepEqual(device?.state, { temperature: 20, contact: true });
  assert.deepEqual(device?.extra, {
    capabilities: {
      probeTemperature: { ...CELSIUS, group: "main" },
      valveOpening: { ...PERCENT, group: "main" },
    },
    state: { probeTemperature: 50, valveOpening: 40 },
  });
  assert.deepEqual(joined.shares("trv", {}, { parts: {}, extra: { valveOpening: 10 } }), [
    { nativeId: "opening", command: { value: 10 }, extra: {} },
  ]);
});

test("readings that a gang has for the whole device are not those of its part", () => {
  const [first, second] = relays(2) as [DeviceFunction, DeviceFunction];
  const power = { type: "number", unit: "W", readOnly: true } as const;
  const limit = { ...PERCENT, group: "configuration" } as const;
  const device: DeviceDescription = {
    ...first.device,
    capabilities: { on: SWITCH, power },
    state: { on: true, power: 5 },
    extra: { capabilities: { limit }, state: { limit: 80 } },
  };

  const [strip] = new JoinedDevices({}).join([{ ...first, device, hasReadings: true }, second]);

  assert.deepEqual([strip?.capabilities, strip?.state], [{ power }, { power: 5 }]);
  assert.deepEqual(strip?.extra, { capabilities: { limit }, state: { limit: 80 } });
  assert.deepEqual(strip?.parts?.[0]?.capabilities, { on: SWITCH });
});

test("capabilities that the vocabulary of a part lacks, and extras, are extras of the device", () => {
  const siren = { ...SWITCH, group: "configuration" } as const;
  const part = light();
  const lamp = functionOf("light", "light", {
    device: {
      capabilities: { ...part.device.capabilities, speed: PERCENT },
      state: { ...part.device.state, speed: 1 },
      extra: { capabilities: { nightMode: siren }, state: { nightMode: false } },
    },
  });
  const joined = new JoinedDevices({});

  const [device] = joined.join([fan(), lamp]);

  assert.deepEqual(Object.keys(device?.parts?.[0]?.capabilities ?? {}), ["on", "brightness"]);
  assert.deepEqual(device?.extra, {
    capabilities: { lightSpeed: { ...PERCENT, group: "main" }, lightNightMode: siren },
    state: { lightSpeed: 1, lightNightMode: false },
  });
  const extra = { lightSpeed: 5, lightNightMode: true };
  assert.deepEqual(joined.shares("fan", {}, { parts: {}, extra }), [
    { nativeId: "light", command: { speed: 5 }, extra: { nightMode: true } },
  ]);
  assert.deepEqual(joined.updates([{ nativeId: "light", extra: { nightMode: true } }]), [
    { nativeId: "fan", extra: { lightNightMode: true } },
  ]);
});

test("a device whose functions were published as devices stays so, also after a restart", () => {
  const published = ["relay 1", "relay 2"];
  const joined = new JoinedDevices({ published });
  assert.deepEqual(inShort(joined.join(relays(3))), ["relay 1", "relay 2", "relay 3"]);

  const restarted = new JoinedDevices({ stored: joined.stored });
  assert.deepEqual(inShort(restarted.join(relays(3))), ["relay 1", "relay 2", "relay 3"]);
  assert.equal(restarted.revision, 0);
});

test("a device that was published with one function keeps its id and gets parts", () => {
  const joined = new JoinedDevices({ published: ["relay 2"] });

  assert.deepEqual(inShort(joined.join(relays(1))), ["relay 1"]);
  assert.deepEqual(inShort(new JoinedDevices({ published: ["relay 2"] }).join(relays(3))), [
    "relay 2: relay-1, relay-3",
  ]);
});

test("a function that comes later displaces none, also after a restart", () => {
  const joined = new JoinedDevices({});
  assert.deepEqual(inShort(joined.join([light()])), ["light"]);
  assert.equal(joined.join([light()])[0]?.name, "Box light");

  const stored = JSON.parse(JSON.stringify(joined.stored)) as typeof joined.stored;
  const restarted = new JoinedDevices({ stored });
  assert.deepEqual(inShort(restarted.join([fan(), light()])), ["light: fan"]);
  assert.deepEqual(inShort(restarted.join([light()])), ["light"]);
});

test("while the main function is gone another one is the device", () => {
  const joined = new JoinedDevices({});
  joined.join([fan(), light()]);

  assert.deepEqual(inShort(joined.join([light()])), ["light"]);
  assert.deepEqual(inShort(joined.join([fan(), light()])), ["fan: light"]);
});

test("the remaining gang of a switch keeps the id of the device", () => {
  const joined = new JoinedDevices({});
  joined.join(relays(2));

  assert.deepEqual(inShort(joined.join(relays(2).slice(1))), ["relay 1: relay-2"]);
});

for (const [names, ids] of [
  [["Lamp", "Lamp"], "lamp, lamp-2"],
  [["1", "2"], "switch-1, switch-2"],
  [["Küche Süd", "灯"], "kuche-sud, switch"],
  [["parts", "extra"], "parts-2, extra-2"],
  [["a".repeat(300), "a".repeat(300)], `${"a".repeat(34)}, ${"a".repeat(34)}-2`],
  [["__proto__", "constructor"], "proto, constructor"],
] as const) {
  test(`parts called ${JSON.stringify(names).slice(0, 40)} have the ids ${ids.slice(0, 40)}`, () => {
    const functions = names.map((partName, at) => functionOf("switch", `f${at}`, { partName }));
    const joined = new JoinedDevices({});

    assert.deepEqual(inShort(joined.join(functions)), [`f0: ${ids}`]);
    assert.deepEqual(inShort(joined.join(functions.toReversed())), [`f0: ${ids}`]);
  });
}

test("beyond fifty parts or two hundred capabilities functions stay devices", () => {
  const many = new JoinedDevices({}).join(relays(60));
  assert.deepEqual([many.length, many[0]?.parts?.length], [11, 50]);

  const names = Array.from({ length: 70 }, (_, at) => `v${at}`);
  const capabilities = Object.fromEntries(names.map((name) => [name, PERCENT]));
  const large = ["a", "b", "c"].map((id) => reading(id, { capabilities, state: {} }));
  const [device, ...rest] = new JoinedDevices({}).join(large);
  assert.deepEqual([device?.nativeId, ...rest.map(({ nativeId }) => nativeId)], ["a", "c"]);
  assert.equal(Object.keys(device?.extra?.capabilities ?? {}).length, 70);
});

test("a device has one picture, and a further camera stays a device", () => {
  const camera = (id: string) =>
    functionOf("camera", id, { device: { capabilities: {}, state: {}, image: true } });
  const joined = new JoinedDevices({});

  const devices = joined.join([fan(), camera("front"), camera("back")]);

  assert.deepEqual(inShort(devices), ["fan", "back"]);
  assert.deepEqual(
    devices.map(({ image }) => image),
    [true, true],
  );
  assert.equal(joined.picturedIn("fan"), "front");
  assert.equal(joined.picturedIn("back"), "back");
});

test("a device can be reached while one of its functions can, and the values of the others are unknown", () => {
  const joined = new JoinedDevices({});
  joined.join([
    fan(),
    light(),
    reading("t", { capabilities: { temperature: CELSIUS }, state: { temperature: 5 } }),
  ]);
  const tell = (nativeId: string, available: boolean) =>
    joined.updates([{ nativeId, available }])[0];

  assert.deepEqual(tell("light", false), {
    nativeId: "fan",
    available: true,
    state: { on: true, speed: 30, temperature: 5 },
    parts: { light: { on: null, brightness: null } },
  });
  assert.deepEqual(joined.updates([{ nativeId: "light", state: { brightness: 20 } }]), []);
  assert.equal(tell("fan", false)?.available, false);
  assert.deepEqual(tell("light", true)?.parts, { light: { on: true, brightness: 20 } });
});

test("a device is assumed if all of its functions but the readings are", () => {
  const assumed = (of: DeviceFunction): DeviceFunction => ({
    ...of,
    device: { ...of.device, assumed: true },
  });
  const isAssumed = (...functions: DeviceFunction[]) =>
    new JoinedDevices({}).join(functions)[0]?.assumed === true;

  assert.equal(isAssumed(assumed(fan()), assumed(light())), true);
  assert.equal(isAssumed(assumed(fan()), light()), false);
  assert.equal(isAssumed(assumed(fan()), reading("r", {})), true);
});

test("a scene's commands to functions are commands to their devices", () => {
  const joined = new JoinedDevices({});
  joined.join([fan(), light(), functionOf("light", "alone", { group: undefined })]);

  assert.deepEqual(
    joined.commands({
      light: { on: true, brightness: 5 },
      fan: { on: false },
      alone: { on: true },
    }),
    {
      fan: { on: false, parts: { light: { on: true, brightness: 5 } } },
      alone: { on: true },
    },
  );
});

for (const [value, is] of [
  [{}, true],
  [{ box: { isSeparate: true } }, true],
  [{ box: { id: "a", hasMain: true, names: { a: "b" } } }, true],
  [undefined, false],
  [[], false],
  [{ box: null }, false],
  [{ box: { id: 1, hasMain: true, names: {} } }, false],
  [{ box: { id: "a", hasMain: true, names: { a: 1 } } }, false],
] as const) {
  test(`${JSON.stringify(value)} ${is ? "can" : "cannot"} be read as stored compositions`, () => {
    assert.equal(areCompositions(value), is);
  });
}
