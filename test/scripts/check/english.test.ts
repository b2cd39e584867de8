import assert from "node:assert/strict";
import { test } from "node:test";
import { findUnplainEnglish } from "../../../scripts/check/english.ts";

for (const [name, text] of [
  ["a docstring that begins with What", "/** What the module runs. */"],
  ["a docstring of several lines that begins with Whether", "/**\n   * Whether it runs.\n   */"],
  ["a docstring that begins with How", "/** How often it ran. */"],
  ["a docstring that begins with Which", "/** Which module runs. */"],
  ["a docstring that begins with That", "/** That it runs is stored. */"],
  ['"is no X"', "// a scene is no device"],
  ['"are no X"', "// scenes are no devices"],
  ['"is no X" over two lines', " * a scene is\n * no device"],
  ['"anew"', "starts anew"],
  ['"goes on"', "the old code goes on"],
  ['"goes on" over two lines', "// the old code goes\n// on"],
  ['"whoever"', "Whoever asks gets it"],
] as const) {
  test(`${name} is reported with its line`, () => {
    const [found = "", ...others] = findUnplainEnglish("host/lamp.ts", `first line\n${text}`);

    assert.match(found, /^host\/lamp\.ts:2: ".+"; \w+/);
    assert.deepEqual(others, []);
  });
}

for (const title of ['test("what runs ends"', "test.skip(\n  `that it runs`", 'it("What runs"']) {
  test(`the title in ${title.split("\n").join(" ")} is reported`, () => {
    assert.equal(findUnplainEnglish("test/lamp.test.ts", title).length, 1);
    assert.deepEqual(findUnplainEnglish("test/lamp.ts", title), [], "not a test file");
  });
}

for (const text of [
  "/** The module that runs. */",
  "// What follows is a comment.",
  "if there is no file",
  "if there\n// is no file",
  "it is no longer there",
  'test("a module that runs ends"',
  "renewal, ongoing",
]) {
  test(`${JSON.stringify(text)} is not reported`, () => {
    assert.deepEqual(findUnplainEnglish("lamp.test.ts", text), []);
  });
}
