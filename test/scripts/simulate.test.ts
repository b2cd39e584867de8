import assert from "node:assert/strict";
import { test } from "node:test";
import { runScript } from "../helpers/script.ts";

test("--help prints the usage and asks no host", async () => {
  const { stdout } = await runScript("simulate", ["--help"]);

  assert.match(stdout, /npm run simulate -- .*--demo/s);
});
