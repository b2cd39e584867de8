import assert from "node:assert/strict";
import { test } from "node:test";
import { calls, capabilities, entity, isConfirmed, isConfirmedByAnswer, view } from "./entity.ts";

const TEXT = { type: "text", readOnly: true } as const;

for (const domain of ["number", "input_number"]) {
  test(`a value of ${domain} is set by the service of its domain`, () => {
    assert.deepEqual(calls(entity(domain, "3"), { value: 7 }), [
      [`${domain}.set_value`, { value: 7 }],
    ]);
  });
}

for (const [attributes, capability] of [
  [
    { min: 0, max: 50, step: 5 },
    { type: "number", min: 0, max: 50, step: 5 },
  ],
  [
    { min: 5, max: 5 },
    { type: "number", min: 5, max: 5 },
  ],
  [{ min: 9, max: 5 }, { type: "number" }],
  [{ min: 0 }, { type: "number" }],
  [{ max: 0 }, { type: "number" }],
  [{ step: 0 }, { type: "number" }],
  [{ unit_of_measurement: "W" }, { type: "number", unit: "W" }],
] as const) {
  test(`a number with ${JSON.stringify(attributes)} has ${JSON.stringify(capability)}`, () => {
    assert.deepEqual(capabilities("number", attributes), { value: capability });
  });
}

test("a number in a unit of its own shows it", () => {
  const of = view(entity("number", "3", { unit_of_measurement: "EUR" }));

  assert.deepEqual(of.capabilities, { value: { type: "number" } });
  assert.deepEqual(of.state, { value: 3 });
  assert.deepEqual(of.extra, {
    capabilities: { unit: { ...TEXT, group: "main" } },
    state: { unit: "EUR" },
  });
});

for (const domain of ["select", "input_select"]) {
  test(`an option of ${domain} is selected by the service of its domain`, () => {
    const of = entity(domain, "a", { options: ["a", "b"] });
    assert.deepEqual(calls(of, { value: "b" }), [[`${domain}.select_option`, { option: "b" }]]);
  });
}

test("a number in another unit is converted, with its range and its steps, there and back", () => {
  const attributes = { min: 104, max: 158, step: 0.9, unit_of_measurement: "°F" };
  const of = (state: string) => entity("number", state, attributes);

  assert.deepEqual(view(of("140")), {
    kind: "sensor",
    capabilities: { value: { type: "number", min: 40, max: 70, unit: "°C" } },
    state: { value: 60 },
  });
  assert.deepEqual(calls(of("140"), { value: 65.5 }), [["number.set_value", { value: 149.9 }]]);
  assert.equal(isConfirmed({ value: 65.5 }, of("140"), of("149.9")), true);
  assert.equal(isConfirmed({ value: 65.5 }, of("140"), of("140")), false);
  assert.equal(isConfirmed({ value: 65.333 }, of("140"), of("149.6")), true);
  assert.equal(isConfirmed({ value: 65.333 }, of("140"), of("149.5")), false);
  const brief = entity("number", "500", { unit_of_measurement: "ms" });
  assert.deepEqual(view(brief).state, { value: 0.5 });
  assert.deepEqual(calls(brief, { value: 0.25 }), [["number.set_value", { value: 250 }]]);
});

for (const domain of ["text", "input_text"]) {
  test(`a text of ${domain} is set by the service of its domain, and may be empty`, () => {
    const of = (state: string, mode = "text") => entity(domain, state, { min: 0, max: 9, mode });

    assert.deepEqual(view(of("Hall")).capabilities, { value: { type: "text" } });
    assert.deepEqual(
      ["Hall", "", "unknown", "unavailable"].map((state) => view(of(state)).state["value"]),
      ["Hall", "", null, null],
    );
    assert.deepEqual(calls(of("Hall"), { value: "" }), [[`${domain}.set_value`, { value: "" }]]);
    assert.equal(isConfirmed({ value: "Attic" }, of("Hall"), of("Attic")), true);
    assert.equal(isConfirmed({ value: "Attic" }, of("Hall"), of("Hall")), false);
  });

  test(`a password of ${domain} can be set, and is not shown`, () => {
    const of = entity(domain, "secret", { min: 0, max: 9, mode: "password" });

    assert.deepEqual(view(of).state, { value: null });
    assert.equal(isConfirmedByAnswer({ value: "other" }, of), true);
  });
}
