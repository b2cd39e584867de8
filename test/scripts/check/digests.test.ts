import assert from "node:assert/strict";
import { test } from "node:test";
import { digestsWithImports } from "../../../scripts/check/digests.ts";

const SOURCES = {
  "host/lamp.ts": 'import type { Light } from "./light.ts";',
  "host/light.ts": 'export { type Colour } from "../plugin-sdk/color.ts";',
  "host/page.ts": 'const page = await import("./lamp.ts");',
  "host/timer.ts": 'import { Semaphore } from "@mantel/plugin-sdk/semaphore";',
  "host/tile.ts": 'import { Chart } from "@mantel/plugin-sdk/ui/sparkline";',
  "host/whole.ts": 'import { Level } from "@mantel/plugin-sdk";',
  "host/alone.ts": 'import { join } from "node:path";',
  "plugin-sdk/color.ts": "export type Colour = string;",
  "plugin-sdk/semaphore.ts": "export class Semaphore {}",
  "plugin-sdk/shared.ts": "export type Level = number;",
  "plugin-sdk/ui/sparkline.ts": "export type Chart = string;",
  "package-lock.json": "{}",
  "README.md": "# Lamp",
};

function changedBy(change: Partial<typeof SOURCES> & Record<string, string>): string[] {
  const before = digestsWithImports(new Map(Object.entries(SOURCES)));
  const now = digestsWithImports(new Map(Object.entries({ ...SOURCES, ...change })));
  return [...now].filter(([path, digest]) => before.get(path) !== digest).map(([path]) => path);
}

test("a changed file changes its own digest and those of all files that reach it by imports", () => {
  assert.deepEqual(changedBy({ "plugin-sdk/color.ts": "export type Colour = number;" }), [
    "host/lamp.ts",
    "host/light.ts",
    "host/page.ts",
    "plugin-sdk/color.ts",
  ]);
  assert.deepEqual(changedBy({ "host/alone.ts": "" }), ["host/alone.ts"]);
});

test("a file of the SDK is found by the name that the package exports it under", () => {
  assert.deepEqual(changedBy({ "plugin-sdk/semaphore.ts": "" }), [
    "host/timer.ts",
    "plugin-sdk/semaphore.ts",
  ]);
  assert.deepEqual(changedBy({ "plugin-sdk/ui/sparkline.ts": "" }), [
    "host/tile.ts",
    "plugin-sdk/ui/sparkline.ts",
  ]);
  assert.deepEqual(changedBy({ "plugin-sdk/shared.ts": "" }), [
    "host/whole.ts",
    "plugin-sdk/shared.ts",
  ]);
});

test("packages, compiler options, lint rules and ambient types concern every file", () => {
  const all = Object.keys(SOURCES).filter((path) => path.endsWith(".ts"));
  for (const path of [
    "package-lock.json",
    "plugin-sdk/package.json",
    "host/dashboard/tsconfig.json",
    ".ci/oxlint.json",
    "host/dashboard/styles.d.ts",
  ]) {
    const changed = changedBy({ [path]: '{"changed": true}' });
    assert.deepEqual(
      changed.filter((each) => all.includes(each)),
      all,
      path,
    );
  }
  assert.deepEqual(changedBy({ "README.md": "# Two lamps" }), []);
});

test("a file that appears at the place of a missing import changes the importing file", () => {
  const missing = { "host/alone.ts": 'import "./missing.ts";' };
  const before = digestsWithImports(new Map(Object.entries(missing)));
  const now = digestsWithImports(new Map(Object.entries({ ...missing, "host/missing.ts": "" })));

  assert.notEqual(now.get("host/alone.ts"), before.get("host/alone.ts"));
});
