import assert from "node:assert/strict";
import { test } from "node:test";
import { withDefaults } from "@mantel/plugin-sdk/defaults";
import { Capabilities, UNITS } from "@mantel/plugin-sdk/device";
import { Type } from "typebox";
import { check, faultsOf } from "../../host/validate.ts";
import { cpuMsOf } from "../helpers/cpu-time.ts";

const Lamp = Type.Object(
  {
    brightness: Type.Number({ minimum: 0, maximum: 100 }),
    name: Type.Optional(Type.String({ minLength: 1 })),
    mode: Type.Optional(Type.Enum(["warm", "cold"])),
    password: Type.Optional(Type.String({ writeOnly: true })),
    bound: Type.Optional(
      Type.Union([
        Type.Object({ date: Type.String() }, { additionalProperties: false }),
        Type.Object(
          { kind: Type.Literal("instant"), at: Type.Number() },
          { additionalProperties: false },
        ),
      ]),
    ),
  },
  { additionalProperties: false },
);
const UNITS_LISTED = UNITS.map((unit) => JSON.stringify(unit)).join(", ");
const asJson = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;

test("a valid value has no faults", () => {
  assert.deepEqual(faultsOf(Lamp, { brightness: 62.5 }), []);
});

test("NaN and Infinity are shown as they are, not as the null of JSON", () => {
  const details = [Number.NaN, Infinity].map(
    (brightness) => faultsOf(Lamp, { brightness })[0]?.detail.split(";")[0],
  );

  assert.deepEqual(details, ["is NaN", "is Infinity"]);
});

test("a fault names the place, the value and what it must be", () => {
  const faults = faultsOf(Lamp, { brightness: 140, mode: "hot" });

  assert.deepEqual(faults, [
    { pointer: "/brightness", detail: "is 140; it must be at most 100" },
    { pointer: "/mode", detail: 'is "hot"; it must be one of "warm", "cold"' },
  ]);
});

test("long texts are shown up to a whole character", () => {
  const Short = Type.Object(
    {
      text: Type.Optional(Type.String({ maxLength: 5 })),
      name: Type.Optional(Type.Enum(["😀".repeat(60), `a${"😀".repeat(60)}`])),
      ["😀".repeat(60)]: Type.Optional(Type.Null()),
      [`a${"😀".repeat(60)}`]: Type.Optional(Type.Null()),
    },
    { additionalProperties: false },
  );

  for (const text of ["😀".repeat(201), `a${"😀".repeat(201)}`]) {
    const faults = faultsOf(Short, { text, name: text, unknown: 1 });
    assert.deepEqual(faults.map(({ pointer }) => pointer).toSorted(), [
      "/name",
      "/text",
      "/unknown",
    ]);
    for (const { detail } of faults) assert.ok(detail.isWellFormed(), detail);
  }
  const [fault] = faultsOf(Short, { text: "😀".repeat(201) });
  assert.equal(fault?.detail.split(";")[0], `is "${"😀".repeat(29)}…`);
});

test("a missing key is reported at its location", () => {
  assert.deepEqual(faultsOf(Lamp, {}), [{ pointer: "/brightness", detail: "is missing" }]);
});

test("names of inherited properties are unknown keys", () => {
  const value: unknown = JSON.parse(
    '{"brightness":1,"constructor":{},"toString":1,"__proto__":{"a":1},"hasOwnProperty":1}',
  );

  const pointers = faultsOf(Lamp, value).map(({ pointer }) => pointer);

  assert.deepEqual(pointers.toSorted(), [
    "/__proto__",
    "/constructor",
    "/hasOwnProperty",
    "/toString",
  ]);
});

test("every fault of a large document is listed", () => {
  const faults = faultsOf(
    Type.Array(Lamp),
    Array.from({ length: 100 }, () => ({ brightness: -1 })),
  );

  assert.equal(faults.length, 100);
  assert.equal(faults[99]?.pointer, "/99/brightness");
});

test("pointers escape slashes and tildes", () => {
  const schema = Type.Object({ "a/b~c": Type.Number() });

  assert.equal(faultsOf(schema, {})[0]?.pointer, "/a~1b~0c");
  assert.equal(faultsOf(schema, { "a/b~c": "x" })[0]?.pointer, "/a~1b~0c");
});

test("only the intended alternative of a union is reported", () => {
  const faults = faultsOf(Lamp, { brightness: 1, bound: { kind: "instant", at: "noon" } });

  assert.deepEqual(faults, [
    { pointer: "/bound/at", detail: 'is "noon"; it must be of type number' },
  ]);
});

test("a wrong choice in the intended alternative is reported", () => {
  const value = { power: { type: "number", unit: "Watt" } };

  assert.deepEqual(faultsOf(Capabilities, value), [
    { pointer: "/power/unit", detail: `is "Watt"; it must be one of ${UNITS_LISTED}` },
  ]);
});

test("a choice beside another type and discriminating choices are all listed", () => {
  const Delay = Type.Union([Type.Enum(["never", "auto"]), Type.Number()]);
  const Source = Type.Union([
    Type.Object({ kind: Type.Enum(["file", "folder"]), path: Type.String() }),
    Type.Object({ kind: Type.Enum(["web"]), path: Type.String() }),
  ]);

  assert.deepEqual(faultsOf(Delay, "soon"), [
    { pointer: "", detail: 'is "soon"; it must be "never", "auto", or of type number' },
  ]);
  assert.deepEqual(faultsOf(Source, { kind: "tape", path: "a" }), [
    { pointer: "", detail: "is an object; it must be an object with kind, path" },
  ]);
});

test("a value that matches no alternative is reported with all of them", () => {
  const faults = faultsOf(Lamp, { brightness: 1, bound: 5 });

  assert.deepEqual(faults, [
    {
      pointer: "/bound",
      detail: 'is 5; it must be an object with date, or an object with kind "instant", at',
    },
  ]);
});

test("no fault shows the value of a secret", () => {
  const faults = faultsOf(Lamp, { brightness: 1, password: 19283746 });

  assert.deepEqual(faults, [{ pointer: "/password", detail: "must be of type string" }]);
});

test("no fault shows the password in an address", () => {
  const schema = Type.String({ maxLength: 3 });

  assert.doesNotMatch(JSON.stringify(faultsOf(schema, "mqtt://me:canary@host")), /canary/);
});

test("a schema that came as JSON finds the same faults", () => {
  const value = { brightness: 140, name: "", bound: { kind: "instant" }, extra: 1 };

  const byId = (faults: { pointer: string }[]) =>
    faults.toSorted((a, b) => a.pointer.localeCompare(b.pointer));
  assert.deepEqual(byId(faultsOf(asJson(Lamp), value)), byId(faultsOf(Lamp, value)));
});

test("a foreign pattern that backtracks for ever is never run", () => {
  const text = `${"a".repeat(60)}b`;
  const schemas = [
    { type: "string", pattern: "^(a+)+$" },
    { type: "string", allOf: [{ not: { if: { pattern: "^(a+)+$" } } }] },
    { $ref: "#/default", default: { pattern: "^(a+)+$" } },
    { patternProperties: { "^(a+)+$": {} } },
  ];

  for (const schema of schemas) {
    const [fault] = faultsOf(schema, schema.patternProperties ? { [text]: 1 } : text);
    assert.match(fault?.detail ?? "", /schema is invalid: .* can match in too many ways/);
  }
});

test("a foreign schema with exponential references is stopped in time and not run again", () => {
  const doubled = (level: number) => {
    const schemas = [{ $ref: `#/$defs/s${level + 1}` }, { $ref: `#/$defs/s${level + 1}` }];
    return [`s${level}`, level === 40 ? {} : { allOf: schemas }] as const;
  };
  const levels = Array.from({ length: 41 }, (_, level) => doubled(level));
  const schema = { $defs: Object.fromEntries(levels), $ref: "#/$defs/s0" };

  const [first] = faultsOf(schema, 1);
  for (let again = 0; again < 10; again++) faultsOf(schema, 1); // a busy machine gives each a little time
  const usedMs = cpuMsOf(() => assert.deepEqual(faultsOf(schema, 1)[0], first));

  assert.match(first?.detail ?? "", /schema is invalid.*timed out/);
  assert.ok(usedMs < 100, `${usedMs} ms`);
});

test("an invalid foreign schema is reported as a fault", () => {
  assert.match(faultsOf({ $ref: "#" }, 1)[0]?.detail ?? "", /schema is invalid/);
  assert.match(
    faultsOf({ type: "string", pattern: "(" }, "a")[0]?.detail ?? "",
    /schema is invalid/,
  );
});

test("texts of a foreign schema never become code", () => {
  const attack = '"]);globalThis.planted=1;//';
  const schema = {
    type: "object",
    minProperties: attack,
    properties: { [attack]: { const: attack, type: attack, enum: [attack], minLength: attack } },
    required: [attack],
  };

  faultsOf(schema, { [attack]: 1 });

  assert.equal(Reflect.get(globalThis, "planted"), undefined);
});

test("check throws one sentence with the first fault, and all faults beside it", () => {
  assert.throws(() => check(Lamp, { brightness: -1, x: 1, y: 1 }, "the lamp"), {
    code: "invalid",
    message: /^the lamp is invalid: \/\w+ .+, and 2 more$/,
  });
  assert.equal(check(Lamp, { brightness: 3 }, "the lamp").brightness, 3);
});

test("defaults fill only absent values, at any depth", () => {
  const schema = asJson(
    Type.Object({
      seconds: Type.Integer({ default: 30 }),
      nested: Type.Object({ port: Type.Integer({ default: 1883 }) }),
      absent: Type.Optional(Type.Object({ port: Type.Integer({ default: 1 }) })),
      feeds: Type.Array(Type.Object({ color: Type.String({ default: "#fff" }) }), { default: [] }),
    }),
  );

  assert.deepEqual(withDefaults(schema, {}), {
    seconds: 30,
    nested: { port: 1883 },
    feeds: [],
  });
  assert.deepEqual(withDefaults(schema, { seconds: 5, feeds: [{}, { color: "#000" }] }), {
    seconds: 5,
    nested: { port: 1883 },
    feeds: [{ color: "#fff" }, { color: "#000" }],
  });
});

test("defaults are copies, and __proto__ does not pollute prototypes", () => {
  const schema: object = JSON.parse(
    '{"type":"object","properties":{"list":{"default":[]},"__proto__":{"default":{"polluted":1}}}}',
  );

  const [one, two] = [withDefaults(schema, {}), withDefaults(schema, {})] as { list: number[] }[];
  one?.list.push(1);

  assert.deepEqual(two?.list, []);
  assert.equal(Reflect.get({}, "polluted"), undefined);
  assert.equal(Reflect.get(two ?? {}, "polluted"), undefined);
});

test("a thousand faults below a very long name are reported as one", () => {
  const fields = Object.fromEntries(Array.from({ length: 500 }, (_, n) => [`a${n}`, []]));
  const schema = Type.Record(Type.String(), Type.Record(Type.String(), Type.Number()));

  const faults = faultsOf(schema, { ["k".repeat(4 * 2 ** 20)]: fields });

  assert.deepEqual(faults, [{ pointer: "", detail: "is invalid below a name that is too long" }]);
});

test("a fault with many choices lists some of them", () => {
  const choices = Array.from({ length: 5_000 }, (_, n) => Type.Literal(`choice ${n}`));

  const [fault] = faultsOf(asJson(Type.Union(choices)), "none");
  const [listed] = faultsOf({ enum: choices.map((each) => each.const.repeat(1_000)) }, "none");

  assert.ok((fault?.detail.length ?? 0) < 5_000 && (listed?.detail.length ?? 0) < 20_000);
});
