import assert from "node:assert/strict";
import { test } from "node:test";
import { errorTable, FRAME, isErrorCode, MantelError } from "@mantel/plugin-sdk/errors";

test("an error has the status and the title of its code", () => {
  const error = new MantelError("device_unknown", "no device has the id hue:light:9");

  assert.equal(error.status, 404);
  assert.equal(error.title, "No such device");
  assert.equal(error.message, "no device has the id hue:light:9");
  assert.deepEqual(error.extras, {});
  assert.ok(error instanceof Error);
});

test("the cause is kept in the error and not sent to clients", () => {
  const cause = new Error("socket hang up");

  const error = new MantelError("bridge_down", "the lamp is away", { cause, retryAfterMs: 5 });

  assert.equal(error.cause, cause);
  assert.deepEqual(error.extras, { retryAfterMs: 5 });
});

test("an error without a cause has no property cause", () => {
  assert.ok(!Object.hasOwn(new MantelError("internal", "a fault"), "cause"));
});

test("only codes of the table are valid, not inherited properties of objects", () => {
  for (const { code } of errorTable()) assert.ok(isErrorCode(code), code);
  for (const text of ["", "Device_unknown", "toString", "__proto__", undefined, 404, null]) {
    assert.ok(!isErrorCode(text), String(text));
  }
});

test("every code has an HTTP error status and a title", () => {
  const table = errorTable();

  for (const { code, status, title } of table) {
    assert.ok(status >= 400 && status < 600, code);
    assert.match(title, /^[A-Z].*[^.]$/, code);
    assert.equal(new MantelError(code, "").status, status);
  }
  assert.ok(table.length > 20);
});

for (const [line, found] of [
  ["at run (/srv/my plugin (2)/index.ts:12:34)", ["/srv/my plugin (2)/index.ts", "12", "34"]],
  ["at run (file:///srv/index.ts:1:2)", ["file:///srv/index.ts", "1", "2"]],
  ["at /srv/index.ts:1:2", ["/srv/index.ts", "1", "2"]],
  ["at async /srv/index.ts:1:2", ["/srv/index.ts", "1", "2"]],
  ["/srv/index.ts:1:2", ["/srv/index.ts", "1", "2"]],
  ["at run (node:internal/main:1:2)", undefined],
  ["at run (/srv/index.ts:1:2) later", undefined],
  ["at run (/srv/index.ts)", undefined],
  ["look at /srv/index.ts:1:2", undefined],
] as const) {
  test(`the stack frame "${line}" ${found ? "has" : "has no"} place in a file`, () => {
    const match = FRAME.exec(line);
    assert.deepEqual(match ? match.slice(1) : undefined, found);
  });
}

test("an error is named MantelError in logs", () => {
  assert.equal(String(new MantelError("invalid", "no lamp")), "MantelError: no lamp");
});
