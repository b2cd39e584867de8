import assert from "node:assert/strict";
import { test } from "node:test";
import type { StateValue } from "@mantel/plugin-sdk";
import { kindOf, layoutOf } from "../../../plugins/zigbee2mqtt/device-layout.ts";
import { parseExposes } from "../../../plugins/zigbee2mqtt/exposes.ts";
import type { Feature } from "../../../plugins/zigbee2mqtt/feature.ts";
import { capabilitiesOf, definitionOf, definitions } from "./definitions.ts";

const featuresOf = (exposes: Parameters<typeof layoutOf>[0]) => layoutOf(exposes).features;

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
    case "command":
      return true;
  }
}

/** A value that can be set: lists take objects, or words of their own. */
function settable(feature: Feature): Exclude<StateValue, null> {
  const usual = valueOf(feature);
  for (const value of [usual, '[{"a":1}]', "NONE"]) {
    try {
      feature.write?.(value);
      return value;
    } catch {
      // a list of something else
    }
  }
  return usual;
}

test("a set value is read back equal for every definition, and confirms the command", () => {
  let count = 0;
  for (const { models, exposes } of definitions) {
    const model = models.join(", ");
    for (const feature of featuresOf(parseExposes(exposes))) {
      if (!feature.write || feature.capability.type === "command") continue;
      const asked = settable(feature);
      const written = feature.write(asked);
      const { type } = feature.capability;
      const wanted = type === "color" || type === "number" ? feature.read(written) : asked;

      assert.deepEqual(feature.read(written), wanted, `${model} ${feature.name}`);
      assert.notEqual(feature.read(written), null, `${model} ${feature.name}`);
      assert.ok(feature.confirms?.(written, written) ?? true, `${model} ${feature.name}`);
      count += 1;
    }
  }
  assert.ok(count > 10_000, `${count}`);
});

test("units and ranges of definitions are Mantel's", () => {
  const find = (model: string) => capabilitiesOf(definitionOf(model));
  const climate = find("ALCANTARA2");

  assert.deepEqual(climate["targetTemperature"], {
    type: "number",
    min: 7,
    max: 28,
    step: 0.5,
    unit: "°C",
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

test("a closed contact is true, for every definition of on", () => {
  const exposes = [
    { type: "binary", name: "contact", access: 1, value_on: false, value_off: true },
  ];
  const [contact] = featuresOf(parseExposes(exposes));

  assert.equal(contact?.name, "contact");
  assert.equal(contact.read(true), true);
});

test("the gangs of a switch are its parts", () => {
  const gang = (endpoint: string) => ({
    type: "switch",
    endpoint,
    features: [
      {
        type: "binary",
        name: "state",
        property: `state_${endpoint}`,
        endpoint,
        access: 7,
        value_on: "ON",
        value_off: "OFF",
      },
    ],
  });
  const { kind, parts, features } = layoutOf(parseExposes([gang("left"), gang("bottom_right")]));

  assert.equal(kind, "switch");
  assert.deepEqual(parts, [
    { id: "left", kind: "switch", name: "left" },
    { id: "bottom-right", kind: "switch", name: "bottom right" },
  ]);
  assert.deepEqual(
    features.map(({ name, part, path }) => [part, name, ...path]),
    [
      ["left", "on", "state_left"],
      ["bottom-right", "on", "state_bottom_right"],
    ],
  );
});

test("a lamp without bounds gets the default ones", () => {
  const feature = (name: string, value_min: number, value_max: number) => ({
    type: "numeric",
    name,
    property: name,
    access: 7,
    value_min,
    value_max,
  });
  const features = [feature("brightness", 0, 0), feature("color_temp", 500, 153)];
  const [brightness, white] = featuresOf(parseExposes([{ type: "light", features }]));

  assert.equal(brightness?.read(127), 50);
  assert.deepEqual(white?.capability, { type: "number", min: 1_000, max: 20_000, unit: "K" });
});
