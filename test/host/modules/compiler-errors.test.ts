import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { build, type BuildFailure } from "esbuild";
import { compilerSentence } from "../../../host/modules/build/compiler-errors.ts";
import { emptyFolder } from "../../helpers/folder.ts";

const CASES: readonly (readonly [source: string, sentence: string])[] = [
  ["export const = 1;", 'syntax error: expected identifier, found "="'],
  ["foo(;", 'syntax error: unexpected ";"'],
  ["let x = 08n", 'syntax error: unexpected "n"'],
  ["if (", "syntax error: the file ends too early; close the last bracket or quote"],
  ["const a = {", "syntax error: the file ends too early; close the last bracket or quote"],
  ["'abc", "syntax error: the string literal is not closed"],
  ["/abc", "syntax error: the regular expression is not closed"],
  ["let a; let a;", "a is declared twice; rename one of the two"],
  ["const b = 1; b = 2;", 'b is a constant; declare it with "let" to assign to it'],
  [
    "function f() { await g(); }",
    'await is used outside an async function; write "async" before the function',
  ],
  ['import "./x.ts"', "cannot find ./x.ts; check the path and the name of the file"],
  [
    'import "nopkg"',
    `the package nopkg is not installed; name it under "dependencies" in the plugin's package.json`,
  ],
  [
    'import "fs"',
    "a widget runs in the browser, which has no fs: use it in the plugin's server side",
  ],
  [
    'import { z } from "./other.ts"; z();',
    "other.ts does not export z; check the name, or export it there",
  ],
  [
    'import z from "./other.ts"; z();',
    "other.ts has no default export; import one of its names in braces",
  ],
  [
    'import "./page.vue"',
    "files with the ending .vue cannot be imported; import code, JSON or WebAssembly, and in a widget also images, fonts and style sheets",
  ],
  ["new.target", 'the code cannot be compiled: Cannot use "new.target" here'],
];

for (const [source, sentence] of CASES) {
  test(`the error of ${source} is "${sentence}"`, async (t) => {
    const folder = await emptyFolder(t);
    await writeFile(join(folder, "other.ts"), "export const y = 1;");
    await writeFile(join(folder, "page.vue"), "<p>");
    await writeFile(join(folder, "index.ts"), source);
    const options = { bundle: true, write: false, logLevel: "silent", format: "cjs" } as const;

    const failure: unknown = await build({
      ...options,
      platform: "browser",
      entryPoints: [join(folder, "index.ts")],
    }).catch((error: unknown) => error);

    const [message = assert.fail()] = (failure as BuildFailure).errors;
    assert.equal(compilerSentence(message, folder), sentence);
  });
}

test("an error of our own checks is shown as it is", () => {
  const message = { text: "lamp.png is too large", pluginName: "bounded" };

  assert.equal(compilerSentence(message as never, "/"), "lamp.png is too large");
});
