import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { DeviceDescription, StateValue } from "@mantel/plugin-sdk";
import {
  assert as always,
  constant,
  dictionary,
  integer,
  jsonValue,
  property,
  record,
} from "fast-check";
import { faultsOfState } from "../../../host/devices/capability.ts";
import { parseDescriptions } from "../../../host/devices/parse-devices.ts";
import { featuresOf, kindOf } from "../../../plugins/zigbee2mqtt/convert.ts";
import { inventoryOf } from "../../../plugins/zigbee2mqtt/discovery.ts";
import { parseExposes } from "../../../plugins/zigbee2mqtt/exposes.ts";
import { type Feature, withValue } from "../../../plugins/zigbee2mqtt/feature.ts";
import { Home } from "../../../plugins/zigbee2mqtt/home.ts";

const FIXTURES = join(import.meta.dirname, "../../fixtures/zigbee2mqtt");

interface Definition {
  readonly vendor: string;
  readonly model: string;
  readonly exposes: readonly unknown[];
}

const definitions = JSON.parse(
  readFileSync(join(FIXTURES, "exposes-sample.json"), "utf8"),
) as Definition[];

function listed(definition: unknown, at = 0): object {
  return {
    ieee_address: `0x${String(at).padStart(16, "0")}`,
    friendly_name: `device ${at}`,
    ...{ type: "Router", supported: true, power_source: "Mains (single phase)", definition },
  };
}

function described(definition: unknown): DeviceDescription {
  const home = new Home([], true);
  home.take(inventoryOf([listed(definition)], []));
  const [device] = home.describe();
  assert.ok(device);
  return device;
}

/** A value of each kind that a definition says a feature may have. */
function valueOf({ capability }: Feature): Exclude<StateValue, null> {
  switch (capability.type) {
    case "boolean":
      return true;
    case "number":
      return capability.max ?? capability.min ?? 3;
    case "choice":
      return capability.values[0] ?? "";
    case "color":
      return { hue: 120, saturation: 80 };
    case "text":
      return "words";
  }
}

test("every definition of the sample becomes a device that the host takes", () => {
  const home = new Home([], true);
  const inventory = inventoryOf(definitions.map(listed), []);

  home.take(inventory);

  assert.equal(inventory.leftOut.size, 0);
  assert.equal(parseDescriptions("z", home.describe()).length, definitions.length);
});

test("every field that a definition of the sample exposes is a capability", () => {
  for (const { model, exposes } of definitions) {
    const leaves = leavesOf(exposes as RawExpose[]);
    const features = featuresOf(parseExposes(exposes));
    const both =
      leaves.some(({ name }) => name === "color_hs") &&
      leaves.some(({ name }) => name === "color_xy");

    const colors = leaves.filter(({ name }) => /^color_(xy|hs)$/.test(name ?? "")).length;
    const expected = Math.min(100, leaves.length - (both ? colors / 2 : 0));
    assert.equal(features.length, expected, model);
  }
});

interface RawExpose {
  readonly name?: string;
  readonly type: string;
  readonly features?: readonly RawExpose[];
}

/** What a payload can hold: colours as one, composites by their parts. */
function leavesOf(exposes: readonly RawExpose[]): RawExpose[] {
  return exposes.flatMap((each) =>
    each.features && !/^color_(xy|hs)$/.test(each.name ?? "") ? leavesOf(each.features) : [each],
  );
}

test("what is set on a device of the sample is read back as what was set, and confirms it", () => {
  let count = 0;
  for (const { model, exposes } of definitions) {
    for (const feature of featuresOf(parseExposes(exposes))) {
      if (!feature.write) continue;
      const asked = valueOf(feature);
      const written = feature.write(asked);
      const { type } = feature.capability;
      const wanted = type === "color" || type === "number" ? feature.read(written) : asked;

      assert.deepEqual(feature.read(written), wanted, `${model} ${feature.name}`);
      assert.notEqual(feature.read(written), null, `${model} ${feature.name}`);
      assert.ok(feature.confirms?.(written, written) ?? true, `${model} ${feature.name}`);
      count += 1;
    }
  }
  assert.ok(count > 1_000, `${count}`);
});

test("units and ranges of the sample are Mantel's", () => {
  const find = (model: string) => {
    const definition = definitions.find((each) => each.model === model);
    return described(definition).capabilities;
  };
  const climate = find("ALCANTARA2");

  assert.deepEqual(climate["targetTemperature"], {
    ...{ type: "number", min: 7, max: 28, step: 0.5, unit: "°C" },
  });
  assert.deepEqual(climate["temperature"], { type: "number", unit: "°C", readOnly: true });
  assert.deepEqual(find("E2103")["position"], { type: "number", min: 0, max: 100, unit: "%" });
});

for (const [exposes, kind] of [
  [[{ type: "light", features: [] }], "light"],
  [
    [
      { type: "switch", features: [] },
      { type: "numeric", name: "power" },
    ],
    "plug",
  ],
  [[{ type: "switch", features: [] }], "switch"],
  [
    [
      { type: "binary", name: "contact" },
      { type: "numeric", name: "voltage" },
    ],
    "binary-sensor",
  ],
  [
    [
      { type: "enum", name: "action", values: ["on"] },
      { type: "numeric", name: "battery" },
    ],
    "button",
  ],
  [[{ type: "numeric", name: "temperature" }], "sensor"],
  [[{ type: "something new", name: "x" }], "sensor"],
  [[], "sensor"],
] as const) {
  test(`${JSON.stringify(exposes)} is a ${kind}`, () => {
    assert.equal(kindOf(parseExposes(exposes)), kind);
  });
}

test("a closed contact is true, whatever its definition calls on", () => {
  const exposes = [
    { type: "binary", name: "contact", access: 1, value_on: false, value_off: true },
  ];
  const [contact] = featuresOf(parseExposes(exposes));

  assert.equal(contact?.name, "contact");
  assert.equal(contact.read(true), true);
});

test("gangs of one switch have their endpoint in their names", () => {
  const gang = (endpoint: string) => ({
    ...{ type: "switch", endpoint },
    features: [
      {
        ...{ type: "binary", name: "state", property: `state_${endpoint}`, endpoint, access: 7 },
        ...{ value_on: "ON", value_off: "OFF" },
      },
    ],
  });
  const features = featuresOf(parseExposes([gang("left"), gang("right")]));

  assert.deepEqual(
    features.map(({ name, path }) => [name, ...path]),
    [
      ["onLeft", "state_left"],
      ["onRight", "state_right"],
    ],
  );
});

test("values outside of what they may be are not known, and take nothing else along", () => {
  const { capabilities } = described(lamp);
  const home = new Home([], true);
  home.take(inventoryOf([listed(lamp)], []));
  const [thing] = home.things;
  assert.ok(thing);

  const state = home.tell(thing, { state: "MAYBE", brightness: 300, color_temp: "warm", color: 7 });

  assert.deepEqual(state, { on: null, brightness: null, colorTemperature: null, color: null });
  assert.deepEqual(faultsOfState(capabilities, state), []);
});

const lamp = {
  ...{ vendor: "v", model: "m" },
  exposes: [
    {
      type: "light",
      features: [
        {
          type: "binary",
          name: "state",
          property: "state",
          access: 7,
          value_on: "ON",
          value_off: "OFF",
        },
        {
          type: "numeric",
          name: "brightness",
          property: "brightness",
          access: 7,
          value_min: 0,
          value_max: 254,
        },
        {
          type: "numeric",
          name: "color_temp",
          property: "color_temp",
          access: 7,
          value_min: 153,
          value_max: 500,
        },
        { type: "composite", name: "color_xy", property: "color", access: 7, features: [] },
      ],
    },
  ],
};

test("a lamp whose bounds are none has the usual ones", () => {
  const feature = (name: string, value_min: number, value_max: number) => ({
    ...{ type: "numeric", name, property: name, access: 7, value_min, value_max },
  });
  const features = [feature("brightness", 0, 0), feature("color_temp", 500, 153)];
  const [brightness, white] = featuresOf(parseExposes([{ type: "light", features }]));

  assert.equal(brightness?.read(127), 50);
  assert.deepEqual(white?.capability, { type: "number", min: 1_000, max: 20_000, unit: "K" });
});

test("no list and no payload makes anything that the host does not take", () => {
  const device = record({
    ieee_address: jsonValue(),
    friendly_name: jsonValue(),
    definition: record({ exposes: jsonValue(), vendor: jsonValue(), model: jsonValue() }),
  });
  const expose = dictionary(
    constant("type").chain(() => integer({ min: 0, max: 12 }).map((at) => KEYS[at] ?? "type")),
    jsonValue(),
  );
  always(
    property(device, expose, jsonValue(), (raw, odd, payload) => {
      const home = new Home([], true);
      const definition = { exposes: [odd, ...lamp.exposes, { type: "light", features: [odd] }] };
      home.take(
        inventoryOf([raw, { ieee_address: "0x1", friendly_name: "x", definition }], payload),
      );
      for (const thing of home.things) {
        home.tell(thing, payload);
        home.tell(
          thing,
          thing.features.reduce((so, { path }) => withValue(so, path, payload), {}),
        );
      }

      assert.doesNotThrow(() => parseDescriptions("z", home.describe()));
    }),
    { numRuns: 300 },
  );
});

const KEYS =
  "type name property endpoint access unit value_min value_max value_step values value_on value_off features".split(
    " ",
  );

test("a device that cannot be read leaves out itself alone, and is counted", () => {
  const inventory = inventoryOf(
    [
      null,
      7,
      {},
      listed(null, 1),
      listed(lamp, 2),
      listed(lamp, 2),
      { ...listed(lamp, 3), friendly_name: "" },
    ],
    [{ id: "x" }, { id: 1, friendly_name: "all", members: "none" }],
  );

  assert.deepEqual(
    inventory.things.map(({ nativeId }) => nativeId),
    ["0x0000000000000002", "group:1"],
  );
  assert.equal(
    [...inventory.leftOut.values()].reduce((sum, count) => sum + count, 0),
    5,
  );
});

test("a group takes what all of its members take, and devices name their groups", () => {
  const dimmer = { exposes: [{ type: "light", features: lamp.exposes[0]?.features.slice(0, 2) }] };
  const inventory = inventoryOf(
    [listed(lamp, 1), listed(dimmer, 2)],
    [
      {
        ...{ id: 7, friendly_name: "lounge", scenes: [{ id: 3, name: "Evening" }] },
        members: [{ ieee_address: "0x0000000000000001" }, { ieee_address: "0x0000000000000002" }],
      },
    ],
  );
  const [first, , group] = inventory.things;

  assert.deepEqual(first?.description.groups, ["lounge"]);
  assert.equal(group?.description.kind, "group");
  assert.deepEqual(Object.keys(group.description.capabilities), ["on", "brightness"]);
  assert.deepEqual(
    inventory.scenes.map(({ description }) => description),
    [{ nativeId: "group:7/3", name: "lounge: Evening" }],
  );
});
