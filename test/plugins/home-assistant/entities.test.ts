import assert from "node:assert/strict";
import { test } from "node:test";
import { Entities, record } from "../../../plugins/home-assistant/entities.ts";

const ID = "light.sofa";

/** The entities with one that is known. */
function known() {
  const entities = new Entities();
  entities.apply({ a: { [ID]: { s: "on", a: { level: 1, name: "Sofa" } } } });
  return entities;
}

const idsOf = (entities: Entities) => [...entities.all()].map(({ id }) => id);

test("a new entity changes the set of entities", () => {
  const entities = new Entities();

  const { changed, isOtherSet } = entities.apply({ a: { [ID]: { s: "on", a: { level: 1 } } } });

  assert.deepEqual(changed, [{ id: ID, domain: "light", state: "on", attributes: { level: 1 } }]);
  assert.equal(isOtherSet, true);
  assert.equal(entities.get(ID), changed[0]);
});

test("an entity that is reported again is changed, and the set of entities stays the same", () => {
  const entities = known();

  const { changed, isOtherSet } = entities.apply({ a: { [ID]: { s: "off" } } });

  assert.deepEqual(changed, [{ id: ID, domain: "light", state: "off", attributes: {} }]);
  assert.equal(isOtherSet, false);
});

test("a change with one new entity reports that the set of entities changed", () => {
  const entities = known();
  const { isOtherSet } = entities.apply({ a: { "light.new": { s: "on" }, [ID]: { s: "off" } } });

  assert.equal(isOtherSet, true);
});

for (const [change, state, attributes] of [
  [{ "+": { s: "off" } }, "off", { level: 1, name: "Sofa" }],
  [{ "+": { a: { level: 2 } } }, "on", { level: 2, name: "Sofa" }],
  [{ "-": { a: ["level"] } }, "on", { name: "Sofa" }],
  [{ "+": { s: "off", a: { x: 1 } }, "-": { a: ["name"] } }, "off", { level: 1, x: 1 }],
  [{ "-": { a: "level" } }, "on", { level: 1, name: "Sofa" }],
  [{ "+": { s: 7 } }, "on", { level: 1, name: "Sofa" }],
  [{ "+": { s: "x".repeat(1_001) } }, "x".repeat(1_000), { level: 1, name: "Sofa" }],
] as const) {
  test(`the change ${JSON.stringify(change).slice(0, 60)} leaves the rest of an entity as it was`, () => {
    const entities = known();

    const { changed, isOtherSet } = entities.apply({ c: { [ID]: change } });

    assert.deepEqual(changed, [{ id: ID, domain: "light", state, attributes }]);
    assert.equal(isOtherSet, false);
    assert.equal(entities.get(ID), changed[0]);
  });
}

test("a change without attributes keeps the same attributes", () => {
  const entities = known();
  const before = entities.get(ID)?.attributes;

  entities.apply({ c: { [ID]: { "+": { s: "off" } } } });

  assert.equal(entities.get(ID)?.attributes, before);
});

test("removing a known entity changes the set of entities, and removing an unknown one does not", () => {
  const entities = known();

  assert.equal(entities.apply({ r: ["light.other"] }).isOtherSet, false);
  assert.equal(entities.apply({ r: "light.sofa" }).isOtherSet, false);
  assert.equal(entities.apply({ r: [ID, "light.other"] }).isOtherSet, true);
  assert.deepEqual(idsOf(entities), []);
});

for (const [id, added] of [
  ["sofa", { s: "on" }],
  ["Light.sofa", { s: "on" }],
  ["light.so fa", { s: "on" }],
  ["light.sofa.x", { s: "on" }],
  [`${"l".repeat(101)}.x`, { s: "on" }],
  [`light.${"x".repeat(156)}`, { s: "on" }],
  ["light.x", { s: 7 }],
  ["light.x", null],
] as const) {
  test(`${id.slice(0, 30)} with ${JSON.stringify(added)} is left out and counted`, () => {
    const entities = new Entities();

    const { changed } = entities.apply({ a: { [id]: added } });

    assert.deepEqual([changed, idsOf(entities), entities.dropped], [[], [], 1]);
  });
}

test("the longest ids are taken, and a state is cut at 1000 characters", () => {
  const entities = new Entities();
  const id = `${"l".repeat(100)}.${"x".repeat(155)}`;

  entities.apply({ a: { [id]: { s: "x".repeat(1_001) } } });

  assert.equal(entities.get(id)?.state, "x".repeat(1_000));
});

test("a change of an unknown entity is left out and counted", () => {
  const entities = known();
  entities.apply({ c: { "light.other": { "+": { s: "on" } } } });

  assert.deepEqual([idsOf(entities), entities.dropped], [[ID], 1]);
});

test("more than 20,000 entities are left out, and known ones still change", () => {
  const entities = new Entities();
  const many = Array.from({ length: 20_001 }, (_, at) => [`light.l${at}`, { s: "on" }]);
  entities.apply({ a: Object.fromEntries(many) });

  entities.apply({ a: { "light.l0": { s: "off" } } });

  assert.equal(idsOf(entities).length, 20_000);
  assert.equal(entities.dropped, 1);
  assert.equal(entities.get("light.l0")?.state, "off");
});

test("an event of another form changes nothing", () => {
  for (const event of [null, 7, "x", [], { a: [], c: 3, r: {} }]) {
    assert.deepEqual(new Entities().apply(event), { changed: [], isOtherSet: false });
  }
});

test("only an object is a record", () => {
  assert.deepEqual(record({ a: 1 }), { a: 1 });
  for (const other of [null, undefined, 7, "text", [1]]) assert.deepEqual(record(other), {});
});
