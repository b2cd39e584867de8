import assert from "node:assert/strict";
import { test } from "node:test";
import type { Capabilities } from "@mantel/plugin-sdk";
import {
  canonicalCapability,
  faultsOfVocabulary,
  isCanonicalName,
  KINDS,
} from "@mantel/plugin-sdk/vocabulary";
import { parseExposes } from "../../../plugins/zigbee2mqtt/exposes.ts";
import { definitionOf, definitions, layoutIn, placesIn } from "./definitions.ts";

// All that zigbee-herdsman-converters defines; scripts/zigbee-definitions.ts writes the list.

const known = definitions.map(({ models, exposes }) => ({
  models,
  exposes,
  layout: layoutIn(exposes),
}));

/** The device itself and each of its parts. */
function functionsIn({ kind, parts, features }: ReturnType<typeof layoutIn>) {
  const capabilitiesAt = (id: string | undefined): Capabilities =>
    Object.fromEntries(
      features
        .filter(({ part, group }) => group === undefined && part === id)
        .map(({ name, capability }) => [name, capability]),
    );
  return [
    { kind, capabilities: capabilitiesAt(undefined), isWhole: parts.length === 0 },
    ...parts.map((part) => ({
      kind: part.kind,
      capabilities: capabilitiesAt(part.id),
      isWhole: true,
    })),
  ];
}

test("all names are in the vocabulary and mean what it says, for every definition", () => {
  for (const { models, layout } of known) {
    for (const { kind, capabilities } of functionsIn(layout)) {
      assert.deepEqual(faultsOfVocabulary(kind, capabilities), [], models[0]);
      assert.deepEqual(
        Object.keys(capabilities).filter((name) => !isCanonicalName(name)),
        [],
        models[0],
      );
    }
    const repeated = layout.features.filter(
      ({ group, name }) => group !== undefined && canonicalCapability(layout.kind, name),
    );
    assert.deepEqual(repeated, [], `${models[0]}: extras with names of the kind`);
  }
});

test("every definition has what its kind requires", () => {
  const missing = known.flatMap(({ models, layout }) =>
    functionsIn(layout).flatMap(({ kind, capabilities, isWhole }) =>
      Object.entries(KINDS[kind].capabilities)
        .filter(([name, { isRequired }]) => isWhole && isRequired && !(name in capabilities))
        .map(([name]) => `${models[0]}: ${kind} without ${name}`),
    ),
  );

  assert.deepEqual(missing, []);
});

interface RawExpose {
  readonly name?: string;
  readonly property?: string;
  readonly type: string;
  readonly features?: readonly RawExpose[];
}

/** The places in a payload that hold values: the colour of a light is one, and a composite holds several. */
function leavesOf(
  exposes: readonly RawExpose[],
  path: readonly string[] = [],
  ofType = "",
): string[] {
  return exposes.flatMap(({ name = "", property = name, type, features }) => {
    const inside = type === "composite" ? [...path, property] : path;
    const isColor = ofType === "light" && /^color_(xy|hs)$/.test(name);
    return features && !isColor
      ? leavesOf(features, inside, type)
      : [[...path, property].join("/")];
  });
}

test("less than half a percent of all exposed fields is left out, and each is named", () => {
  let count = 0;
  const lost = new Map<string, number>();
  for (const { models, exposes, layout } of known) {
    const paths = new Set(leavesOf(exposes as RawExpose[]));
    const found = new Set(layout.features.map(({ path }) => path.join("/")));
    const missing = [...paths].filter((path) => !found.has(path));
    count += paths.size * models.length;
    if (missing.length > 0) lost.set(models.join(), missing.length);
    assert.equal(missing.length, layout.leftOut.length, models[0]);
    assert.ok(
      [...found].every((path) => paths.has(path)),
      models[0],
    );
  }

  assert.deepEqual([...lost.keys()], ["Danfoss Icon", "Danfoss Icon2", "Lidl 368308_2010"]);
  const sum = [...lost.values()].reduce((so, each) => so + each, 0);
  assert.ok(sum / count < 0.005, `${sum} of ${count}`);
});

test("a switch of a setting is never the on of a device of another kind", () => {
  for (const { models, exposes, layout } of known) {
    if (["switch", "plug", "valve"].includes(layout.kind)) continue;
    const propertiesOf = (isThat: (type: string) => boolean) =>
      parseExposes(exposes)
        .filter(({ type }) => isThat(type))
        .flatMap(({ features }) => features.map(({ property }) => property));
    const own = propertiesOf((type) => type !== "switch");
    const properties = propertiesOf((type) => type === "switch").filter(
      (each) => !own.includes(each) && each !== "state",
    );
    const on = layout.features.find(({ name, part, group }) => name === "on" && !part && !group);

    assert.ok(!on || !properties.includes(on.path.join("/")), models[0]);
  }
});

test("the definitions have the kinds that their exposes tell of", () => {
  const counts = new Map<string, number>();
  for (const { models, layout } of known) {
    counts.set(layout.kind, (counts.get(layout.kind) ?? 0) + models.length);
  }

  assert.deepEqual(Object.fromEntries([...counts].toSorted(([a], [b]) => a.localeCompare(b))), {
    "air-conditioner": 36,
    "binary-sensor": 517,
    button: 376,
    cover: 166,
    fan: 9,
    light: 1_704,
    lock: 50,
    plug: 303,
    sensor: 448,
    siren: 50,
    switch: 627,
    thermostat: 213,
    valve: 17,
  });
});

test("every cover that can be set has open, close and stop", () => {
  let count = 0;
  for (const { models, layout } of known) {
    for (const { kind, capabilities, isWhole } of functionsIn(layout)) {
      if (kind !== "cover" || !(isWhole || "position" in capabilities)) continue;
      for (const name of ["open", "close", "stop"]) assert.ok(name in capabilities, models[0]);
      count += 1;
    }
  }
  assert.ok(count > 50, `${count}`);
});

for (const [model, places] of [
  ["99432", ["on", "speed", "preset", "light/on", "light/brightness"]],
  ["BRT-100-TRV", ["mode", "preset", "temperature", "targetTemperature", "windowOpen"]],
  ["AC201", ["mode", "temperature", "fan/on", "fan/speed"]],
  ["PCT504", ["mode", "action", "motion", "humidity", "fan/on", "fan/preset"]],
  ["VZM31-SN", ["on", "brightness", "power", "energy"]],
  ["E2103", ["open", "close", "stop", "position"]],
  // Their functions are exposed without the type of a function.
  ["Connect", ["on"]],
  ["ERC2202-Z", ["l1/on", "l2/on"]],
  ["QT06_1", ["on", "water", "extra/irrigationTarget"]],
  ["VA4200WZ", ["on", "position"]],
  ["GX03", ["l1/on", "l2/on"]],
  ["ERC2206-Z", ["open", "close", "stop"]],
  ["AUX-1-ZB-S", ["on", "mode", "temperature", "targetTemperature"]],
  ["ZWT100", ["on", "targetTemperature", "action"]],
  ["BAC-002-ALZB", ["schedule"]],
] as const) {
  test(`${model} has ${places.join(", ")}`, () => {
    const found = placesIn(definitionOf(model).exposes);

    assert.deepEqual(
      places.filter((place) => !found.includes(place)),
      [],
    );
  });
}
