import assert from "node:assert/strict";
import { test } from "node:test";
import { MantelError } from "@mantel/plugin-sdk/errors";
import { sentence } from "@mantel/plugin-sdk/sentence";
import {
  fromWire,
  NotBegun,
  parseMessage,
  RemoteFault,
  remoteStackOf,
  toWire,
} from "../../../plugin-sdk/rpc/wire.ts";

/** An error after a journey through JSON, as between processes. */
const travelled = (error: unknown): Error =>
  fromWire(JSON.parse(JSON.stringify(toWire(error))) as ReturnType<typeof toWire>);

test("a MantelError keeps its code, message and extras", () => {
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

test("a sentence of a MantelError arrives as it is, unless it is too long", () => {
  const told = sentence("cold", "the lamp in {room} is at {degrees} °", {
    room: "Hall",
    degrees: 3,
  });
  const arrived = travelled(new MantelError("conflict", told)) as MantelError;

  assert.equal(arrived.message, "the lamp in Hall is at 3 °");
  assert.deepEqual(arrived.extras.sentence, told);

  for (const wrong of [
    { ...told, text: "x".repeat(501) },
    { ...told, values: { room: "x".repeat(1_001) } },
    { ...told, values: { room: { toString: "x" } } },
    { ...told, values: Object.fromEntries(Array.from({ length: 11 }, (_, at) => [at, at])) },
    { code: 1, text: "a", values: {} },
    "the lamp is cold",
    null,
  ]) {
    const sent = {
      code: "conflict",
      name: "MantelError",
      message: "cold",
      extras: { sentence: wrong },
    };
    assert.deepEqual((fromWire(sent) as MantelError).extras, {});
  }
});

test("a plugin may say that it is not known what another server has done", () => {
  const arrived = travelled(new MantelError("outcome_unknown", "the server does not answer"));

  assert.ok(arrived instanceof MantelError);
  assert.equal(arrived.code, "outcome_unknown");
});

test("an unexpected error keeps its name, message and stack", () => {
  const fault = new TypeError("x is not a function");

  const arrived = travelled(fault);

  assert.ok(arrived instanceof RemoteFault);
  assert.equal(arrived.message, "TypeError: x is not a function");
  assert.equal(arrived.remoteStack, fault.stack);
});

test("an error without a stack gets its message as the stack", () => {
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
  test(`throwing ${what} arrives as a RemoteFault`, () => {
    const arrived = travelled(thrown);

    assert.ok(arrived instanceof RemoteFault);
    assert.equal(arrived.message, message);
  });
}

test("an error that only looks like a MantelError arrives as a RemoteFault", () => {
  const posing = Object.assign(new Error("let me in"), { code: "unauthorized" });

  assert.ok(travelled(posing) instanceof RemoteFault);
  assert.ok(
    fromWire({ code: "toString", name: "MantelError", message: "" }) instanceof RemoteFault,
  );
});

test("an error code reserved for the host arrives from another process as a RemoteFault", () => {
  const error = fromWire({ code: "unauthorized", name: "MantelError", message: "who are you" });

  assert.equal(error.name, "RemoteFault");
});

test("extra fields of an error are kept only if they have the right type", () => {
  const extras = { retryAfterMs: "soon", allow: 5, errors: [{ pointer: "/a", detail: "b" }] };
  const error = fromWire({
    code: "invalid",
    name: "MantelError",
    message: "wrong",
    extras: extras as never,
  });

  assert.deepEqual((error as MantelError).extras, { errors: [{ pointer: "/a", detail: "b" }] });
});

test("the parts of an error are limited in length when sent and when received", () => {
  const long = "x".repeat(200_000);
  const error = Object.assign(new Error(long), { name: long, stack: long });
  const told = { name: long, message: long, stack: long };

  for (const { name, message, stack } of [
    toWire(error),
    toWire(new MantelError("invalid", long)),
  ]) {
    assert.ok(name.length <= 200 && message.length <= 4_000 && (stack?.length ?? 0) <= 16_000);
  }
  const fault = fromWire(told);
  assert.ok(fault instanceof RemoteFault);
  assert.ok(fault.message.length <= 4_202 && fault.remoteStack.length <= 16_000);
  assert.equal(fromWire({ ...told, code: "invalid" }).message.length, 4_000);
});

test("the fault list of an error from another process is limited", () => {
  const fault = { pointer: `/${"x".repeat(200_000)}`, detail: "y".repeat(200_000), more: 1 };
  const told = { code: "invalid", name: "MantelError", message: "wrong" };

  const few = fromWire({ ...told, extras: { errors: [fault] } }) as MantelError;
  const many = fromWire({
    ...told,
    extras: { errors: Array.from({ length: 1_001 }, () => fault) },
  }) as MantelError;

  assert.deepEqual(
    few.extras.errors?.map(({ pointer, detail, ...more }) => [pointer.length, detail.length, more]),
    [[4_000, 4_000, {}]],
  );
  assert.deepEqual(many.extras, {});
});

for (const [data, message] of [
  [
    { kind: "call", call: 1, method: "m", input: 2, more: 3 },
    { kind: "call", call: 1, method: "m", input: 2 },
  ],
  [
    { kind: "call", method: "m" },
    { kind: "call", method: "m", input: undefined },
  ],
  [
    { kind: "begun", call: 1, more: 3 },
    { kind: "begun", call: 1 },
  ],
  [
    { kind: "answer", call: 1, value: 2, more: 3 },
    { kind: "answer", call: 1, value: 2 },
  ],
  [
    { kind: "failure", call: 1, error: {}, more: 3 },
    { kind: "failure", call: 1, error: {} },
  ],
] as const) {
  test(`${JSON.stringify(data)} is a message`, () => {
    assert.deepEqual(parseMessage(data), message);
  });
}

for (const data of [
  null,
  undefined,
  7,
  "call",
  {},
  { kind: "call", call: 1 },
  { kind: "call", call: 1, method: 7 },
  { kind: "call", call: 1, method: "m".repeat(101) },
  { kind: "call", call: 0, method: "m" },
  { kind: "call", call: "1", method: "m" },
  { kind: "begun" },
  { kind: "answer", call: 0 },
  { kind: "answer", call: -1 },
  { kind: "answer", call: 1.5 },
  { kind: "answer", call: 2 ** 53 },
  { kind: "failure", call: "1" },
  { kind: "other", call: 1 },
]) {
  test(`${JSON.stringify(data)?.slice(0, 50)} is not a message`, () => {
    assert.equal(parseMessage(data), undefined);
  });
}

test("a method may have 100 characters", () => {
  assert.ok(parseMessage({ kind: "call", method: "m".repeat(100) }));
});

for (const code of [
  "invalid",
  "device_unknown",
  "scene_unknown",
  "bridge_rate_limited",
  "bridge_down",
  "broker_down",
  "broker_refused",
  "module_down",
  "service_unavailable",
  "deadline_passed",
  "disk_full",
  "not_found",
] as const) {
  test(`a plugin may answer with the error code ${code}`, () => {
    const error = fromWire({ code, name: "MantelError", message: "why" });
    assert.ok(error instanceof MantelError);
    assert.deepEqual([error.code, error.message], [code, "why"]);
  });
}

for (const [extras, kept] of [
  [{ retryAfterMs: 0 }, { retryAfterMs: 0 }],
  [{ retryAfterMs: -1 }, {}],
  [{ retryAfterMs: Infinity }, {}],
  [{ errors: [{ pointer: "/a" }] }, {}],
  [{ errors: [{ detail: "b" }] }, {}],
  [{ errors: [{ pointer: "/a", detail: "b" }, null] }, {}],
  [{ errors: "all" }, {}],
  [{ errors: Array.from({ length: 1_000 }, () => ({ pointer: "", detail: "" })) }, undefined],
  ["extras", {}],
  [null, {}],
] as const) {
  test(`of the extra fields ${JSON.stringify(extras).slice(0, 50)} only the valid ones are kept`, () => {
    const error = fromWire({ code: "invalid", name: "MantelError", message: "", extras });
    assert.deepEqual((error as MantelError).extras, kept ?? extras);
  });
}

test("data that is not an error is an unknown error", () => {
  for (const sent of [undefined, null, 7, "text", {}, { message: 7 }]) {
    assert.equal(fromWire(sent).message, "Error: unknown error: the other end sent no message");
  }
});

test("an error whose properties cannot be read is reported as such", () => {
  const error = Object.defineProperty(new Error("x"), "message", {
    get: () => {
      throw new Error("no");
    },
  });

  assert.deepEqual(toWire(error), {
    name: "Error",
    message: "unreadable error: reading its properties threw",
  });
});

test("the stack at the other end is known for expected and unexpected errors, and else empty", () => {
  const error = { name: "Error", message: "x", stack: "at the other end" };

  assert.equal(remoteStackOf(fromWire(error)), "at the other end");
  assert.equal(remoteStackOf(fromWire({ ...error, code: "invalid" })), "at the other end");
  assert.equal(remoteStackOf(fromWire({ name: "Error", message: "x", code: "invalid" })), "");
  assert.equal(remoteStackOf(new Error("here")), "");
  assert.equal(remoteStackOf("text"), "");
});

test("a call that had not begun is module_down", () => {
  const error = new NotBegun();

  assert.equal(error.code, "module_down");
  assert.equal(error.message, "the process ended before the call began");
});
