import assert from "node:assert/strict";
import { test } from "node:test";
import { LineCutter, LONGEST_MESSAGE, toLine } from "@mantel/plugin-sdk/lines";

/** The lines of a text that arrives in chunks of `size` bytes; what is not whole has a `~`. */
function cut(text: string, size: number, longest = 1_000): string[] {
  const cutter = new LineCutter(longest);
  const bytes = Buffer.from(text);
  const lines: string[] = [];
  for (let at = 0; at < bytes.length; at += size) {
    for (const line of cutter.cut(bytes.subarray(at, at + size))) {
      lines.push(line.bytes.toString() + (line.isWhole ? "" : "~"));
    }
  }
  for (const line of cutter.rest()) lines.push(`${line.bytes.toString()}~`);
  return lines;
}

test("lines are complete for every way of splitting the stream", () => {
  for (let size = 1; size < 12; size++) {
    assert.deepEqual(cut("eins\nzwölf\u2028\n\ndrei", size), ["eins", "zwölf\u2028", "", "drei~"]);
  }
});

test("only the beginning of a too long line is yielded, and the next line is complete", () => {
  for (let size = 1; size < 40; size++) {
    assert.deepEqual(cut(`${"x".repeat(30)}\nnext\n`, size, 10), [`${"x".repeat(10)}~`, "next"]);
  }
});

test("the beginning of an endless line is yielded early, and the rest is not buffered", () => {
  const cutter = new LineCutter(10);

  const first = [...cutter.cut(Buffer.alloc(11, "x"))];
  const later = Array.from({ length: 100 }, () => [...cutter.cut(Buffer.alloc(1_000, "x"))]).flat();

  assert.deepEqual([first.length, first[0]?.isWhole, later.length], [1, false, 0]);
  assert.deepEqual([...cutter.rest()], []);
});

test("a message that is too long is refused at the sender, and its method is named", () => {
  const input = "x".repeat(LONGEST_MESSAGE);

  assert.throws(() => toLine({ kind: "call", call: 1, method: "publish", input }), {
    name: "RangeError",
    message: "message too large: the input of publish has 8.0 MiB, the limit is 8.0 MiB",
  });
  assert.throws(() => toLine({ kind: "answer", call: 1, value: input }), /the answer of a call/);
});

test("a line of exactly the longest length is complete", () => {
  for (let size = 1; size < 15; size++) {
    assert.deepEqual(cut(`${"x".repeat(10)}\nnext\n`, size, 10), ["x".repeat(10), "next"]);
  }
});

test("a message is one line of JSON, up to 8 MiB", () => {
  const message = { kind: "answer", call: 1, value: "two\nlines" } as const;
  assert.equal(toLine(message), '{"kind":"answer","call":1,"value":"two\\nlines"}\n');
  const empty = toLine({ ...message, value: "" }).length - 1;
  const longest = { ...message, value: "x".repeat(LONGEST_MESSAGE - empty) };
  assert.equal(toLine(longest).length, LONGEST_MESSAGE + 1);
});
