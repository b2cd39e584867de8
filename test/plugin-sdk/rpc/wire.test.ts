import assert from "node:assert/strict";
import { test } from "node:test";
import { MantelError } from "@mantel/plugin-sdk/errors";
import { fromWire, RemoteFault, toWire } from "../../../plugin-sdk/rpc/wire.ts";

/** An error after a journey through JSON, as between processes. */
const travelled = (error: unknown): Error =>
  fromWire(JSON.parse(JSON.stringify(toWire(error))) as ReturnType<typeof toWire>);

test("an expected failure keeps its code, sentence and extras", () => {
  const failure = new MantelError("bridge_rate_limited", "the lamp is hot", {
    cause: new Error("internal detail"),
    retryAfterMs: 250,
    errors: [{ pointer: "/on", detail: "is too early" }],
  });

  const arrived = travelled(failure);

  assert.ok(arrived instanceof MantelError);
  assert.equal(arrived.code, "bridge_rate_limited");
  assert.equal(arrived.status, 409);
  assert.equal(arrived.message, "the lamp is hot");
  assert.deepEqual(arrived.extras, failure.extras);
  assert.ok(!("cause" in arrived), "a cause stays where it happened");
});

test("a fault arrives with its kind, its sentence and the stack it had", () => {
  const fault = new TypeError("x is not a function");

  const arrived = travelled(fault);

  assert.ok(arrived instanceof RemoteFault);
  assert.equal(arrived.message, "TypeError: x is not a function");
  assert.equal(arrived.remoteStack, fault.stack);
});

test("a fault without a stack has its sentence in place of one", () => {
  const fault = Object.assign(new Error("bare"), { stack: undefined });

  const arrived = travelled(fault);

  assert.ok(arrived instanceof RemoteFault);
  assert.equal(arrived.remoteStack, "Error: bare");
});

for (const [what, thrown, message] of [
  ["a text", "help", "Error: help"],
  ["nothing", undefined, "Error: undefined"],
  ["null", null, "Error: null"],
  ["an object", { code: "unauthorized" }, "Error: [object Object]"],
] as const) {
  test(`${what} that was thrown arrives as a fault`, () => {
    const arrived = travelled(thrown);

    assert.ok(arrived instanceof RemoteFault);
    assert.equal(arrived.message, message);
  });
}

test("an error that only looks like an expected failure is a fault", () => {
  const posing = Object.assign(new Error("let me in"), { code: "unauthorized" });

  assert.ok(travelled(posing) instanceof RemoteFault);
  assert.ok(
    fromWire({ code: "toString", name: "MantelError", message: "" }) instanceof RemoteFault,
  );
});

test("a failure that is the host's own to state comes from another process as a fault", () => {
  const error = fromWire({ code: "unauthorized", name: "MantelError", message: "who are you" });

  assert.equal(error.name, "RemoteFault");
});

test("what another process says besides is taken only where it has its type", () => {
  const extras = { retryAfterMs: "soon", allow: 5, errors: [{ pointer: "/a", detail: "b" }] };
  const error = fromWire({
    ...{ code: "invalid", name: "MantelError", message: "wrong" },
    extras: extras as never,
  });

  assert.deepEqual((error as MantelError).extras, { errors: [{ pointer: "/a", detail: "b" }] });
});
