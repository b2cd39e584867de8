import assert from "node:assert/strict";
import { test } from "node:test";
import vm from "node:vm";
import { mapStacks } from "../../host/compiled-stacks.ts";

const FILE = "/gone/host.cjs";

test("a stack names the compiled file when its source map is gone", (t) => {
  const usual: unknown = Reflect.get(Error, "prepareStackTrace");
  t.after(() => Reflect.set(Error, "prepareStackTrace", usual));
  mapStacks(FILE);

  const error = new vm.Script('new Error("on purpose")', { filename: FILE }).runInThisContext();

  assert.match((error as Error).stack ?? "", /^Error: on purpose\n    at \/gone\/host\.cjs:1:1\n/);
});
