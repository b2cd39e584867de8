import assert from "node:assert/strict";
import type { IncomingMessage } from "node:http";
import { Readable } from "node:stream";
import { test } from "node:test";
import { MantelError } from "@mantel/plugin-sdk";
import { awayError, bridgeError, readJson } from "../../../plugins/hue/bridge-error.ts";

const answerOf = (...chunks: string[]) =>
  Readable.from(chunks.map((text) => Buffer.from(text))) as unknown as IncomingMessage;

test("an answer in several pieces is parsed as JSON; an answer that is not JSON gives undefined", async () => {
  assert.deepEqual(await readJson(answerOf('{"a"', ': "ü"}'), 100), { a: "ü" });
  assert.equal(await readJson(answerOf("<html>"), 100), undefined);
});

test("an answer of the limit is read, and a longer one is refused with the limit", async () => {
  assert.equal(await readJson(answerOf("1", "23"), 3), 123);
  await assert.rejects(readJson(answerOf("12", "34"), 3), {
    message: "it answers with more than 3 bytes",
  });
});

const failed = (statusCode: number, answer?: unknown, headers: object = {}) =>
  bridgeError({ statusCode, headers } as IncomingMessage, answer);
const said = (description: unknown) => ({ errors: [{ description }, { description: "second" }] });

for (const [status, code, message] of [
  [207, "bridge_down", "the device does not follow: why"],
  [400, "invalid", "the bridge refuses the change: why"],
  [401, "bridge_down", "it does not know the application key: pair it again"],
  [403, "bridge_down", "it does not know the application key: pair it again"],
  [404, "device_unknown", "the bridge does not have it any more: why"],
  [429, "bridge_rate_limited", "the bridge asks to be asked less often"],
  [503, "bridge_down", "it is busy: why"],
  [500, "bridge_down", "it answers 500: why"],
  [200, "bridge_down", "it answers with something that is not an answer of a bridge: why"],
] as const) {
  test(`status ${status} of a bridge is the error ${code}`, () => {
    const error = failed(status, said("why"));
    assert.deepEqual([error.code, error.message], [code, message]);
  });
}

for (const answer of [
  undefined,
  null,
  "text",
  {},
  { errors: "x" },
  { errors: [] },
  said(7),
  { errors: [null] },
]) {
  test(`an error without a description (${JSON.stringify(answer)}) gives none`, () => {
    assert.equal(failed(400, answer).message, "the bridge refuses the change");
    assert.equal(
      failed(500, answer).message,
      "it answers 500: does its address lead to something else?",
    );
  });
}

test("a description is cut at 200 characters", () => {
  assert.equal(
    failed(400, said("x".repeat(300))).message,
    `the bridge refuses the change: ${"x".repeat(200)}`,
  );
});

for (const status of [429, 503]) {
  for (const [header, retryAfterMs] of [
    ["5", 5_000],
    ["60", 60_000],
    ["61", 60_000],
    ["0", 1_000],
    ["-1", 1_000],
    ["soon", 1_000],
    [undefined, 1_000],
  ] as const) {
    test(`status ${status} with Retry-After ${header} is tried again after ${retryAfterMs} ms`, () => {
      assert.equal(failed(status, {}, { "retry-after": header }).extras.retryAfterMs, retryAfterMs);
    });
  }
}

for (const [code, message] of [
  ["ECONNREFUSED", "nothing listens there: is it on, and is that its address?"],
  ["ECONNRESET", "it hung up: restart it if that lasts"],
  ["EHOSTUNREACH", "the address does not exist in the network: is it on?"],
  ["ENETUNREACH", "its network is unreachable: is this machine in it?"],
  ["ENOTFOUND", "its name cannot be resolved"],
  ["EAI_AGAIN", "its name cannot be resolved now"],
  ["EPROTO", "as Node says it"],
  [7, "as Node says it"],
] as const) {
  test(`a request that fails with ${code} says "${message}"`, () => {
    const cause = Object.assign(new Error("as Node says it"), { code });
    const error = awayError(cause, undefined);

    assert.deepEqual([error.code, error.message], ["bridge_down", message]);
    assert.equal(error.extras.retryAfterMs, 1_000);
    assert.equal(error.cause, cause);
  });
}

test("a failure without words says that the bridge cannot be reached", () => {
  assert.equal(awayError({}, undefined).message, "it cannot be reached");
});

test("a request beyond its deadline is deadline_passed, with the time", () => {
  const cause = new Error("aborted");
  const error = awayError(cause, 4_000);

  assert.equal(error.code, "deadline_passed");
  assert.equal(error.message, "it does not answer within 4000 ms: restart it if that lasts");
  assert.equal(error.cause, cause);
});

test("an expected error keeps its code and message, also beyond the deadline", () => {
  const cause = new MantelError("invalid", "refused");
  const error = awayError(cause, 4_000);

  assert.deepEqual([error.code, error.message, error.cause], ["invalid", "refused", cause]);
});
