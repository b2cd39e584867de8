import assert from "node:assert/strict";
import { test } from "node:test";
import { parseChain, requireNoCycle } from "../../../host/services/chain.ts";

test("a cycle of service calls is refused with its path", () => {
  requireNoCycle(["acme.a", "acme.b"], "acme.c");

  assert.throws(() => requireNoCycle(["acme.a", "acme.b"], "acme.a"), {
    code: "service_cycle",
    message: /^service cycle: acme\.a → acme\.b → acme\.a/,
  });
});

test("two versions of a service are two services", () => {
  assert.doesNotThrow(() => requireNoCycle(["acme.a"], "acme.a@2"));
});

test("at most eight services call each other in a row", () => {
  const chain = Array.from({ length: 8 }, (_, at) => `acme.s${at}`);

  requireNoCycle(chain.slice(1), "acme.last");
  assert.throws(() => requireNoCycle(chain, "acme.last"), {
    code: "service_cycle",
    message: /^more than 8 services call each other in a row: acme\.s0 → .* → acme\.last$/,
  });
});

test("a chain from a process is cut to texts of usual length", () => {
  const long = "x".repeat(106);

  assert.deepEqual(parseChain(undefined), []);
  assert.deepEqual(parseChain("acme.a"), []);
  assert.deepEqual(parseChain(["acme.a", 5, long, null, "acme.b"]), ["acme.a", "acme.b"]);
  assert.equal(parseChain(Array.from({ length: 50 }, () => "acme.a")).length, 8);
});
