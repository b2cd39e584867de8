import assert from "node:assert/strict";
import { test } from "node:test";
import { explainFailure } from "../../../plugin-sdk/runtime/explain-failure.ts";

const DENIED = "permission denied: lamp uses 10.0.0.1, which its manifest does not declare";

test("a permission denied before is part of the failure that it caused, also in its stack", () => {
  const error = new Error("fetch failed");

  const explained = explainFailure(error, DENIED) as Error;

  assert.equal(explained, error);
  assert.equal(explained.message, `fetch failed; before it failed: ${DENIED}`);
  assert.ok(explained.stack?.startsWith(`Error: ${explained.message}\n`));
});

test("a failure that names the denied permission itself is unchanged", () => {
  assert.equal((explainFailure(new Error(DENIED), DENIED) as Error).message, DENIED);
});

test("a failure without a denied permission is unchanged", () => {
  assert.equal((explainFailure(new Error("boom"), undefined) as Error).message, "boom");
  assert.equal(explainFailure("boom", DENIED), "boom");
});

test("a package without a binary for this machine is explained", () => {
  const error = new Error("Could not locate the bindings file. Tried:\n → build/Release/a.node");

  const { message } = explainFailure(error, undefined) as Error;

  assert.match(message, /; a package has no native binary for .+ install scripts are not run/);
});
