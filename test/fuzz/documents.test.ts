import assert from "node:assert/strict";
import { test } from "node:test";
import { MantelError } from "@mantel/plugin-sdk/errors";
import * as fc from "fast-check";
import { LayoutInput } from "../../host/api/layout.ts";
import { parseDocument } from "../../host/config/document.ts";
import { KeyTable } from "../../host/config/keys.ts";
import { planPatch } from "../../host/config/patch.ts";
import { CoreConfig } from "../../host/config/schema.ts";
import { parseLayout } from "../../host/layout/parse.ts";
import type { Schema } from "../../scripts/fuzz/document.ts";
import { anyJson, valuesFitting, oddText } from "../../scripts/fuzz/values.ts";
import { checkProperty } from "./settings.ts";

const RUNS = 1_500;

/** Values of a schema, some of them with one thing in them replaced. */
function near(schema: unknown): fc.Arbitrary<unknown> {
  const good = valuesFitting(JSON.parse(JSON.stringify(schema)) as Schema);
  const spoiled = fc
    .tuple(good, fc.nat(), anyJson)
    .map(([value, at, odd]) => replaced(value, at, odd));
  return fc.oneof({ weight: 2, arbitrary: good }, { weight: 4, arbitrary: spoiled }, anyJson);
}

/** A copy with its `at`th member, counted through all that is nested, replaced. */
function replaced(value: unknown, at: number, odd: unknown): unknown {
  const text = JSON.stringify(value) ?? "null";
  const size = [...text.matchAll(/[,:[{]/g)].length + 1;
  let left = at % size;
  return JSON.parse(text, (_, each: unknown) => (left-- === 0 ? odd : each));
}

/** Asserts that the work succeeds, or is refused as a client's fault that names a place. */
function doneOrRefused(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    assert.ok(error instanceof MantelError, String((error as Error).stack));
    assert.ok(["invalid", "config_key_not_allowed"].includes(error.code));
    for (const { pointer } of error.extras.errors ?? []) assert.match(pointer, /^(\/|$)/);
    return undefined;
  }
}

test("any layout is accepted unchanged, or refused with locations", async (t) => {
  const property = fc.property(near(LayoutInput), (given) => {
    const before = JSON.stringify(given);

    const layout = doneOrRefused(() => parseLayout(given));

    assert.equal(JSON.stringify(given), before);
    if (layout !== undefined) assert.equal(JSON.stringify(layout), before);
  });

  await checkProperty(t, property, RUNS);
});

test("any config file is read or refused, and pollutes no prototype", async (t) => {
  const keys = new KeyTable();
  const property = fc.property(near(CoreConfig), (given) => {
    doneOrRefused(() => parseDocument(given, keys));
  });

  await checkProperty(t, property, RUNS);

  assert.deepEqual(Object.keys(Object.prototype), []);
});

test("any patch changes only known keys", async (t) => {
  const keys = new KeyTable();
  const known = [...keys.all()].map(({ dotted }) => dotted);
  const name = fc.oneof(oddText, fc.constantFrom(...known.flatMap((each) => each.split("."))));
  const dotted = fc.oneof(
    fc.constantFrom(...known),
    fc.tuple(name, name).map((all) => all.join(".")),
  );
  const patch = fc.oneof(
    near(CoreConfig),
    fc.tuple(dotted, anyJson).map(([key, value]) => nested(key.split("."), value)),
    fc.dictionary(name, fc.dictionary(name, anyJson, { maxKeys: 3 }), { maxKeys: 3 }),
  );
  const property = fc.property(patch, fc.boolean(), (given, admin) => {
    const stored = { plain: {}, secret: {} };
    const context = { keys, current: {}, environment: {}, stored, admin };
    const changes = doneOrRefused(() => planPatch(given, context));

    for (const [key] of (changes ?? []) as ReturnType<typeof planPatch>) {
      assert.ok(known.includes(key.dotted) || /^modules\.[a-z][a-z0-9-]*$/.test(key.dotted));
      assert.ok(admin || key.scope === "edit", key.dotted);
    }
  });

  await checkProperty(t, property, RUNS);

  assert.deepEqual(Object.keys(Object.prototype), []);
});

function nested([first = "", ...rest]: readonly string[], value: unknown): unknown {
  return Object.fromEntries([[first, rest.length === 0 ? value : nested(rest, value)]]);
}
