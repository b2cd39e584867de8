import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { LONGEST_MESSAGE, toLine } from "@mantel/plugin-sdk/lines";
import { inOrder } from "../../../plugin-sdk/runtime/channel.ts";
import { until } from "../../helpers/until.ts";

/** A list whose elements note when they are encoded. */
function noting(length: number, note: () => void) {
  return Array.from({ length }, (_, at) => ({
    toJSON() {
      note();
      return { at };
    },
  }));
}

function busy(ms: number): void {
  const endsAt = performance.now() + ms;
  while (performance.now() < endsAt);
}

test("a long list is encoded over several turns, and later messages follow it", async () => {
  const lines: string[] = [];
  const turns = new Set<number>();
  let turn = 0;
  const send = inOrder((line) => void lines.push(line.toString()));
  const input = noting(1_000, () => {
    turns.add(turn);
    busy(0.05);
  });

  send({ kind: "call", call: 1, method: "publishDevices", input });
  send({ kind: "call", method: "updateDevices", input: [{ nativeId: "lamp" }] });
  send({ kind: "answer", call: 2 });

  assert.deepEqual(lines, []);
  for (; lines.length < 3; turn++) await setImmediate();
  assert.ok(turns.size > 3, `${turns.size} turns`);
  const [list = "", ...later] = lines.map((line) => JSON.parse(line) as { input?: unknown[] });
  assert.deepEqual(list, {
    kind: "call",
    call: 1,
    method: "publishDevices",
    input: input.map((_, at) => ({ at })),
  });
  assert.deepEqual(
    later.map((each) => `${JSON.stringify(each)}\n`),
    [
      toLine({ kind: "call", method: "updateDevices", input: [{ nativeId: "lamp" }] }),
      toLine({ kind: "answer", call: 2 }),
    ],
  );
});

for (const [what, element, name] of [
  ["is not JSON", 1n, "TypeError"],
  ["is too long", "x".repeat(LONGEST_MESSAGE / 100), "RangeError"],
] as const) {
  test(`a long list that ${what} fails its call, and the messages after it are sent`, async () => {
    const lines: string[] = [];
    const failures: Error[] = [];
    const send = inOrder((line) => void lines.push(line.toString()));
    const input = Array.from({ length: 300 }, () => element);

    send({ kind: "call", call: 1, method: "publishDevices", input }, undefined, (error) => {
      failures.push(error);
    });
    send({ kind: "answer", call: 2 });

    await until(() => lines.length > 0);
    assert.deepEqual(lines, [toLine({ kind: "answer", call: 2 })]);
    assert.deepEqual(
      failures.map((error) => error.name),
      [name],
    );
  });
}

test("a short message is written at once, and one that is not JSON throws", () => {
  const lines: string[] = [];
  const send = inOrder((line, written) => {
    lines.push(line.toString());
    written?.();
  });
  let isWritten = false;

  assert.throws(() => send({ kind: "answer", call: 1, value: 1n }), TypeError);
  send({ kind: "answer", call: 2 }, () => (isWritten = true));

  assert.deepEqual(lines, [toLine({ kind: "answer", call: 2 })]);
  assert.ok(isWritten);
});
