import assert from "node:assert/strict";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { packageJson, startModules } from "../../helpers/module.ts";

/** A plugin that answers with what its expression gives. */
const answering = (imports: string, expression: string) => ({
  "package.json": packageJson("asked", { provides: ["broker.address"] }),
  "index.ts": `
import { definePlugin, brokerAddress, provide } from "@mantel/plugin-sdk";
${imports}
export default definePlugin({
  start: () => ({ services: [provide(brokerAddress, async () => ({ url: String(${expression}) }))] }),
});
`,
});

const IMPORTS: readonly (readonly [
  what: string,
  imports: string,
  expression: string,
  expected: string,
])[] = [
  [
    "the default of a CommonJS package",
    'import jwt from "jsonwebtoken";',
    "typeof jwt.sign",
    "function",
  ],
  [
    "a name of a CommonJS package",
    'import { sign } from "jsonwebtoken";',
    "typeof sign",
    "function",
  ],
  [
    "a CommonJS package that marks itself as a module",
    'import { connectAsync } from "mqtt";',
    "typeof connectAsync",
    "function",
  ],
  ["the default of an ES module", 'import ICAL from "ical.js";', "typeof ICAL.parse", "function"],
  ["a name of an ES module", 'import { watch } from "chokidar";', "typeof watch", "function"],
  [
    "a whole package as a namespace",
    'import * as all from "chokidar";',
    "typeof all.watch + typeof all.default",
    "functionobject",
  ],
  ["a package at run time", "", 'typeof (await import("jsonwebtoken")).default.decode', "function"],
  [
    "the SDK at run time",
    "",
    'typeof (await import("@mantel/plugin-sdk")).definePlugin',
    "function",
  ],
  [
    "a built-in module",
    'import { join } from "node:path"; import fs from "node:fs";',
    'join("a", "b") + typeof fs.statSync',
    "a/bfunction",
  ],
  ["a built-in module without its prefix", 'import { join } from "path";', 'join("a", "b")', "a/b"],
];

for (const [what, imports, expression, expected] of IMPORTS) {
  test(`a plugin imports ${what} as Node itself would give it`, async (t) => {
    const { registry, services } = await startModules(t, { asked: answering(imports, expression) });

    assert.equal(registry.get("asked").error, null);
    assert.deepEqual(await services.call("broker.address", {}), { url: expected });
  });
}

test("a file beside the source is found, and JSON and later imports work", async (t) => {
  const { services, root } = await startModules(t, {
    asked: {
      ...answering(
        'import data from "./data.json" with { type: "json" }; import { here } from "./deep/here.ts";',
        '[data.word, here, (await import("./late.ts")).late].join(" ")',
      ),
      "data.json": '{ "word": "json" }',
      "deep/here.ts": "export const here = import.meta.dirname;",
      "late.ts": 'export const late: string = "late";',
    },
  });

  assert.deepEqual(await services.call("broker.address", {}), {
    url: `json ${join(root, "asked/deep")} late`,
  });
});

test("an import from outside the plugin's folder is refused with its line", async (t) => {
  const { registry } = await startModules(t, {
    asked: answering('import { secret } from "../other/index.ts";', "secret"),
    other: { "index.ts": 'export const secret = "s";' },
  });

  const { error } = registry.get("asked");
  assert.match(error?.message ?? "", /is outside the plugin's folder/);
  assert.equal(error?.line, 3);
});

test("the cache keeps the bundles of the live code and of the code before it", async (t) => {
  const { registry, write, dataFolder } = await startModules(t, { asked: answering("", "0") });

  for (let round = 1; round <= 5; round++) {
    await write("asked/index.ts", answering("", String(round))["index.ts"]);
    await registry.reload("asked");
  }

  const kept = await readdir(join(dataFolder, "cache/modules/asked"));
  assert.equal(kept.filter((name) => name.endsWith(".cjs")).length, 2);
});
