import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";

const SECONDS = 10;

test(`the fuzz tests find nothing in ${SECONDS} s for each property`, (t) => {
  // Inside a test run, Node's test runner starts no other one.
  const { NODE_TEST_CONTEXT: _, ...environment } = process.env;
  const command = ["--import", "tsx", "scripts/test.ts", "test/fuzz"];

  const { status, stdout, stderr } = spawnSync(process.execPath, command, {
    env: { ...environment, FUZZ_SECONDS: String(SECONDS) },
    encoding: "utf8",
  });

  t.diagnostic(stdout);
  assert.equal(status, 0, stdout + stderr);
  assert.match(stdout, /^pass [1-9]/m);
});
