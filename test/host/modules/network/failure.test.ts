import assert from "node:assert/strict";
import { constants } from "node:os";
import { test } from "node:test";
import {
  connectFailure,
  failureOf,
  lookupFailure,
} from "../../../../host/modules/process/network/failure.ts";

test("an error of Node is passed on with all that a program may ask it for", () => {
  const details = {
    code: "ECONNRESET",
    errno: -104,
    syscall: "connect",
    hostname: "a.test",
    address: "10.0.0.1",
    port: 80,
  };
  const error = Object.assign(new Error("it was reset"), details, { secret: "s3cret" });

  assert.deepEqual(failureOf(error), { message: "it was reset", ...details });
});

test("the errors of several attempts are passed on with their common one", () => {
  const errors = ["one", "two"].map((message) =>
    Object.assign(new Error(message), { code: message }),
  );

  assert.deepEqual(failureOf(new AggregateError(errors, "all failed")), {
    message: "all failed",
    code: "ECONNREFUSED",
    errors: [
      { message: "one", code: "one" },
      { message: "two", code: "two" },
    ],
  });
});

test("a failure without details, or with odd ones, is a refused connection", () => {
  const odd = { message: 5, code: 1, errno: "1", syscall: 1, hostname: 1, address: 1, port: "1" };

  assert.deepEqual(failureOf({ ...odd, errors: "none" }), { message: "5", code: "ECONNREFUSED" });
  for (const nothing of [undefined, null]) {
    assert.deepEqual(failureOf(nothing), { message: "undefined", code: "ECONNREFUSED" });
  }
});

test("a failure of the host's own reads like one of Node, with its cause", () => {
  assert.deepEqual(connectFailure("ETIMEDOUT", { address: "10.0.0.1", port: 80 }, "it was late"), {
    message: "connect ETIMEDOUT 10.0.0.1:80 - it was late",
    code: "ETIMEDOUT",
    errno: -constants.errno.ETIMEDOUT,
    syscall: "connect",
    address: "10.0.0.1",
    port: 80,
  });
  const { message } = connectFailure("EMFILE", { address: "/run/x.sock" }, "too many");
  assert.equal(message, "connect EMFILE /run/x.sock - too many");
  assert.deepEqual(lookupFailure("a.test", "too many"), {
    message: "getaddrinfo EAI_AGAIN a.test - too many",
    code: "EAI_AGAIN",
    errno: -3001,
    syscall: "getaddrinfo",
    hostname: "a.test",
  });
});
