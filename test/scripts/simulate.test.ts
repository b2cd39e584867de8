import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { join, resolve } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";

const REPOSITORY = resolve(import.meta.dirname, "../..");

test("--help prints the usage and asks no host", async () => {
  const args = ["--import", "tsx", join(REPOSITORY, "scripts/simulate.ts"), "--help"];

  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: REPOSITORY });

  assert.match(stdout, /npm run simulate -- .*--demo/s);
});
