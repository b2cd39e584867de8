import assert from "node:assert/strict";
import { test } from "node:test";
import {
  assert as always,
  constant,
  dictionary,
  integer,
  jsonValue,
  property,
  record,
} from "fast-check";
import { parseDescriptions } from "../../../host/devices/parse-devices.ts";
import { DeviceStore } from "../../../plugins/zigbee2mqtt/device-store.ts";
import { withValue } from "../../../plugins/zigbee2mqtt/feature.ts";
import { definitions, inventoryIn, lamp, listed } from "./definitions.ts";

test("every definition becomes a device that the host accepts", () => {
  const home = new DeviceStore([], true, () => undefined);
  const inventory = inventoryIn(definitions.map(listed), []);

  home.take(inventory);

  assert.equal(inventory.ignored.size, 0);
  assert.equal(parseDescriptions("z", home.describe()).length, definitions.length);
});

test("every list and payload results in data that the host accepts", () => {
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
      const home = new DeviceStore([], true, () => undefined);
      const definition = { exposes: [odd, ...lamp.exposes, { type: "light", features: [odd] }] };
      home.take(
        inventoryIn([raw, { ieee_address: "0x1", friendly_name: "x", definition }], payload),
      );
      for (const thing of home.things) {
        home.tell(thing, payload);
        home.tell(
          thing,
          thing.features.reduce((so, { path }) => withValue(so, path, payload), {}),
        );
      }

      const described = home.describe();
      assert.deepEqual(
        parseDescriptions("z", described).map(({ nativeId }) => nativeId),
        described.map(({ nativeId }) => nativeId),
      );
    }),
    { numRuns: 300 },
  );
});

const KEYS =
  "type name property endpoint access unit value_min value_max value_step values value_on value_off features".split(
    " ",
  );

test("only the invalid device is skipped, and it is counted", () => {
  const inventory = inventoryIn(
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
    [...inventory.ignored.values()].reduce((sum, count) => sum + count, 0),
    5,
  );
});

test("a group takes what any of its members takes, and devices name their groups", () => {
  const dimmer = { exposes: [{ type: "light", features: lamp.exposes[0]?.features.slice(0, 2) }] };
  const narrow = { ...(lamp.exposes[0]?.features[2] as object), value_min: 250, value_max: 454 };
  const white = { exposes: [{ type: "light", features: [narrow] }] };
  const groups = [
    {
      id: 7,
      friendly_name: "lounge",
      scenes: [{ id: 3, name: "Evening" }],
      members: [0, 1, 2].map((at) => ({ ieee_address: `0x${String(at).padStart(16, "0")}` })),
    },
  ];
  const inventory = inventoryIn([listed(white, 0), listed(dimmer, 1), listed(lamp, 2)], groups);
  const [first, , , group] = inventory.things;

  assert.deepEqual(first?.description.groups, ["lounge"]);
  assert.equal(group?.description.kind, "group");
  assert.deepEqual(group.description.capabilities, {
    colorTemperature: { type: "number", min: 2_000, max: 6_536, unit: "K" },
    on: { type: "boolean" },
    brightness: { type: "number", min: 0, max: 100, unit: "%" },
    color: { type: "color" },
  });
  assert.deepEqual(
    inventory.scenes.map(({ description }) => description),
    [{ nativeId: "group:7/3", name: "lounge: Evening" }],
  );
});

test("a group of gangs is commanded without their endpoints", () => {
  const gang = (endpoint: string) => ({
    type: "switch",
    endpoint,
    features: [
      { type: "binary", name: "state", property: `state_${endpoint}`, endpoint, access: 7 },
    ],
  });
  const members = [{ ieee_address: "0x0000000000000001", endpoint: 2 }];
  const { things } = inventoryIn(
    [listed({ exposes: [gang("l1"), gang("l2")] }, 1)],
    [{ id: 7, friendly_name: "hall", members }],
  );

  assert.deepEqual(
    things[1]?.features.map(({ name, path, part }) => [name, path, part]),
    [["on", ["state"], undefined]],
  );
});
