import assert from "node:assert/strict";
import { test } from "node:test";
import { valuesOf } from "@mantel/plugin-sdk/setting-values";
import { s, type Settings, type SettingValues } from "@mantel/plugin-sdk/widget-settings";
import { Type } from "typebox";

const SHORT_FORMS = {
  name: s.text({ default: "none" }),
  note: s.lines(),
  count: s.number({ min: 2, max: 5 }),
  on: s.bool({ default: true }),
  size: s.choice(["small", "large"]),
  lamp: s.device({ kind: "light" }),
  lamps: s.list(s.device(), { max: 2 }),
};

const TYPEBOX = {
  name: Type.String({ minLength: 1, maxLength: 4, default: "none" }),
  note: Type.String(),
  count: Type.Integer({ minimum: 2, maximum: 5 }),
  on: Type.Boolean(),
  size: Type.Union([Type.Literal("small"), Type.Literal(7)]),
  side: Type.Enum(["left", "right"]),
  lamps: Type.Array(Type.String({ format: "device" }), { maxItems: 2 }),
};

/** Typed as in `ctx.settings`. */
function read<S extends Settings>(settings: S, config: Record<string, unknown>): SettingValues<S> {
  return valuesOf(settings, config) as SettingValues<S>;
}

test("settings of the short forms have their values, and defaults without one", () => {
  const config = {
    name: "Hall",
    note: "a\nb",
    count: 3,
    on: false,
    size: "large",
    lamp: "demo:light:1",
    lamps: ["a", "b"],
  };
  const values = read(SHORT_FORMS, config);
  const size: "small" | "large" = values.size;

  assert.deepEqual(values, config);
  assert.equal(size, "large");
  assert.deepEqual(read(SHORT_FORMS, {}), {
    name: "none",
    note: "",
    count: 2,
    on: true,
    size: "small",
    lamp: "",
    lamps: [],
  });
});

test("settings made with TypeBox have their values, and empty ones without a default", () => {
  const config = {
    name: "Hall",
    note: "a",
    count: 3,
    on: true,
    size: 7,
    side: "right",
    lamps: ["a"],
  };
  const values = read(TYPEBOX, config);
  const size: "small" | 7 = values.size;

  assert.deepEqual(values, config);
  assert.equal(size, 7);
  assert.deepEqual(read(TYPEBOX, {}), {
    name: "none",
    note: "",
    count: 2,
    on: false,
    size: "small",
    side: "left",
    lamps: [],
  });
});

for (const [name, invalid] of Object.entries<readonly unknown[]>({
  name: ["", "too long", 7, null],
  note: [7, {}, []],
  count: [1, 6, 2.5, "3", Number.NaN],
  on: ["true", 1, null],
  size: ["large", "7", true],
  side: ["up", null],
  lamps: ["a", { 0: "a" }],
})) {
  test(`an invalid value of "${name}" becomes the default`, () => {
    const standard = valuesOf(TYPEBOX, {})[name];
    for (const value of invalid) {
      assert.deepEqual(valuesOf(TYPEBOX, { [name]: value })[name], standard, String(value));
    }
  });
}

test("invalid items of a list are dropped, and those beyond its maximum", () => {
  const { lamps } = valuesOf(TYPEBOX, { lamps: ["a", 7, null, "b", "c"] });

  assert.deepEqual(lamps, ["a", "b"]);
});
