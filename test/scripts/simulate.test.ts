import assert from "node:assert/strict";
import { test } from "node:test";
import { runScript } from "../helpers/script.ts";

test("--help prints the usage and asks no host", async () => {
  const { code, stdout, stderr } = await runScript("simulate", ["--help"]);

  assert.equal(code, 0, stderr);
  assert.match(stdout, /npm run simulate -- .*--demo/s);
});
