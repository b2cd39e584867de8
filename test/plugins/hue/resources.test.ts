import assert from "node:assert/strict";
import { test } from "node:test";
import { at, idsIn, numberAt, Resources, textAt } from "../../../plugins/hue/resources.ts";

const LAMP = { id: "lamp", type: "light", on: { on: false }, dimming: { brightness: 5, min: 1 } };

function known(...more: unknown[]) {
  const resources = new Resources();
  resources.replace([LAMP, ...more]);
  return resources;
}

for (const [type, fields] of [
  ["device", ["metadata", "product_data", "services"]],
  ["room", ["metadata", "children", "services"]],
  ["zone", ["metadata", "children", "services"]],
  ["bridge_home", ["children", "services"]],
  ["light", ["owner", "metadata", "on", "dimming", "color_temperature", "color", "effects"]],
  ["grouped_light", ["owner", "on", "dimming"]],
  ["scene", ["metadata", "group", "actions"]],
  ["smart_scene", ["metadata", "group"]],
  ["button", ["owner", "metadata", "button"]],
  ["bell_button", ["owner", "metadata", "button", "bell"]],
  ["relative_rotary", ["owner", "relative_rotary"]],
  ["motion", ["owner", "enabled", "motion"]],
  ["camera_motion", ["owner", "enabled", "motion"]],
  ["grouped_motion", ["owner", "enabled", "motion"]],
  ["grouped_light_level", ["owner", "enabled", "light"]],
  ["convenience_area_motion", ["owner", "enabled", "motion"]],
  ["security_area_motion", ["owner", "enabled", "motion"]],
  ["motion_area_configuration", ["name", "group", "enabled", "health"]],
  ["service_group", ["metadata"]],
  ["temperature", ["owner", "enabled", "temperature"]],
  ["light_level", ["owner", "enabled", "light"]],
  ["contact", ["owner", "enabled", "contact_report"]],
  ["tamper", ["owner", "tamper_reports"]],
  ["device_power", ["owner", "power_state"]],
  ["zigbee_connectivity", ["owner", "status", "mac_address"]],
  ["zgp_connectivity", ["owner", "status"]],
] as const) {
  test(`of a ${type} only ${fields.join(", ")} are kept`, () => {
    const all = Object.fromEntries(fields.map((name) => [name, { x: 1 }]));
    const resources = new Resources();
    resources.replace([{ id: "a", type, ...all, alert: 1, gradient: 2 }]);

    assert.deepEqual(resources.get("a"), { id: "a", type, ...all });
  });
}

for (const odd of [
  null,
  7,
  {},
  { id: 7, type: "light" },
  { id: "a/b", type: "light" },
  { id: "", type: "light" },
  { id: "x".repeat(65), type: "light" },
  { id: "a", type: 7 },
]) {
  test(`${JSON.stringify(odd)} is not a resource, and is counted`, () => {
    const resources = known(odd);
    assert.deepEqual([resources.size, resources.dropped], [1, 1]);
  });
}

test("resources of other types are left out without being counted", () => {
  const resources = known({ id: "a", type: "entertainment" }, { id: "b", type: "toString" });
  assert.deepEqual([resources.size, resources.dropped], [1, 0]);
});

test("beyond 10,000 resources new ones are left out and counted, and known ones still change", () => {
  const resources = new Resources();
  resources.replace(
    Array.from({ length: 10_001 }, (_, index) => ({ id: `r${index}`, type: "light" })),
  );

  resources.apply({ type: "update", data: [{ id: "r0", type: "light", on: { on: true } }] });

  assert.deepEqual([resources.size, resources.dropped], [10_000, 1]);
  assert.deepEqual(resources.get("r0")?.["on"], { on: true });
});

test("an update changes two levels deep, and the rest of a resource stays", () => {
  const resources = known();
  const before = resources.get("lamp");

  const changes = resources.apply({
    type: "update",
    data: [{ id: "lamp", type: "light", dimming: { brightness: 9 }, effects: [1] }],
  });

  assert.deepEqual(resources.get("lamp"), {
    ...LAMP,
    dimming: { brightness: 9, min: 1 },
    effects: [1],
  });
  const told = { id: "lamp", type: "light", dimming: { brightness: 9 }, effects: [1] };
  assert.deepEqual(changes, [{ type: "update", told, before }]);
});

for (const value of [[1], null, 7]) {
  test(`a part that becomes ${JSON.stringify(value)} is replaced, and replaces it again`, () => {
    const resources = known();
    const change = (dimming: unknown) =>
      resources.apply({ type: "update", data: [{ id: "lamp", type: "light", dimming }] });

    change(value);
    assert.deepEqual(resources.get("lamp")?.["dimming"], value);
    change({ brightness: 3 });
    assert.deepEqual(resources.get("lamp")?.["dimming"], { brightness: 3 });
  });
}

test("a resource that comes back as another type keeps nothing of the former", () => {
  const resources = known();
  resources.apply({ type: "add", data: [{ id: "lamp", type: "motion", enabled: true }] });

  assert.deepEqual(resources.get("lamp"), { id: "lamp", type: "motion", enabled: true });
});

test("a deleted resource is gone, and an unknown one is not a change", () => {
  const resources = known();
  const before = resources.get("lamp");

  const changes = resources.apply({ type: "delete", data: [{ id: "lamp" }, { id: "other" }] });

  assert.deepEqual(changes, [{ type: "delete", told: before, before }]);
  assert.deepEqual([resources.size, resources.list(), resources.kept()], [0, [], []]);
});

for (const container of [
  null,
  {},
  { type: "update" },
  { type: "update", data: {} },
  { type: "error", data: [] },
]) {
  test(`the event ${JSON.stringify(container)} changes nothing and is counted`, () => {
    const resources = known();

    assert.deepEqual(resources.apply(container), []);
    assert.deepEqual([resources.size, resources.dropped], [1, 1]);
  });
}

test("all that a bridge has replaces what it had", () => {
  const resources = known();
  resources.replace([{ id: "other", type: "light" }]);

  assert.deepEqual(resources.list(), [{ id: "other", type: "light" }]);
  assert.equal(resources.get("lamp"), undefined);
  assert.equal(resources.get(7), undefined);
});

test("values are read at a path of own properties", () => {
  const value = { a: { b: 7, c: null, d: " text ", e: "", f: " " } };

  assert.equal(at(value, "a", "b"), 7);
  assert.equal(at(value, "a", "c", "x"), undefined);
  assert.equal(at(value, "a", "b", "x"), undefined);
  assert.equal(at(value, "a", "toString"), undefined);
  assert.equal(at(undefined, "a"), undefined);
  assert.equal(at(value), value);
});

test("a number is finite, and a text is trimmed, not empty, and of at most 200 characters", () => {
  assert.deepEqual(
    [7, Infinity, "7", null].map((a) => numberAt({ a }, "a")),
    [7, undefined, undefined, undefined],
  );
  assert.deepEqual(
    [" a ", "", " ", 7].map((a) => textAt({ a }, "a")),
    ["a", undefined, undefined, undefined],
  );
  assert.equal(textAt({ a: "x".repeat(201) }, "a"), "x".repeat(200));
});

test("only references of the asked type count, of the first thousand", () => {
  const light = (rid: unknown) => ({ rid, rtype: "light" });

  assert.deepEqual(
    idsIn([light("a"), { rid: "b", rtype: "device" }, light(7), null, light("c")], "light"),
    ["a", "c"],
  );
  assert.deepEqual(idsIn("a", "light"), []);
  assert.equal(
    idsIn(
      Array.from({ length: 1_001 }, (_, index) => light(`${index}`)),
      "light",
    ).length,
    1_000,
  );
});
