import assert from "node:assert/strict";
import { test } from "node:test";
import { errorTable, isErrorCode, MantelError } from "@mantel/plugin-sdk/errors";

test("an error has the status and the title of its code", () => {
  const error = new MantelError("device_unknown", "no device has the id hue:light:9");

  assert.equal(error.status, 404);
  assert.equal(error.title, "No such device");
  assert.equal(error.message, "no device has the id hue:light:9");
  assert.deepEqual(error.extras, {});
  assert.ok(error instanceof Error);
});

test("the cause is the error's own, and no part of what clients are sent", () => {
  const cause = new Error("socket hang up");

  const error = new MantelError("bridge_down", "the lamp is away", { cause, retryAfterMs: 5 });

  assert.equal(error.cause, cause);
  assert.deepEqual(error.extras, { retryAfterMs: 5 });
});

test("an error without a cause does not claim one", () => {
  assert.ok(!Object.hasOwn(new MantelError("internal", "a fault"), "cause"));
});

test("a code is one of the table, and never a property that objects have anyway", () => {
  for (const { code } of errorTable()) assert.ok(isErrorCode(code), code);
  for (const text of ["", "Device_unknown", "toString", "__proto__", undefined, 404, null]) {
    assert.ok(!isErrorCode(text), String(text));
  }
});

test("every code is a failure to clients, with a title for people", () => {
  const table = errorTable();

  for (const { code, status, title } of table) {
    assert.ok(status >= 400 && status < 600, code);
    assert.match(title, /^[A-Z].*[^.]$/, code);
    assert.equal(new MantelError(code, "").status, status);
  }
  assert.ok(table.length > 20);
});
