import assert from "node:assert/strict";
import { test } from "node:test";
import { calls, entity, view } from "./entity.ts";

const SWITCH = { type: "boolean" } as const;

for (const domain of ["switch", "input_boolean"]) {
  test(`an entity of ${domain} is switched by the services of its domain`, () => {
    const of = entity(domain, "on");

    assert.deepEqual(view(of).capabilities, { on: SWITCH });
    assert.deepEqual(calls(of, { on: true }), [[`${domain}.turn_on`]]);
    assert.deepEqual(calls(of, { on: false }), [[`${domain}.turn_off`]]);
  });
}

test("an outlet is a plug, and its state may be unknown", () => {
  assert.equal(view(entity("switch", "on", { device_class: "outlet" })).kind, "plug");
  assert.deepEqual(
    ["on", "off", "unknown", "unavailable", ""].map((state) => view(entity("switch", state)).state),
    [{ on: true }, { on: false }, { on: null }, { on: null }, { on: null }],
  );
});
