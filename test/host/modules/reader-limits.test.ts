import assert from "node:assert/strict";
import { Readable } from "node:stream";
import { type TestContext, test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { Output } from "../../../host/modules/process/output.ts";
import { type Bounds, ThrottledReader } from "../../../host/modules/process/throttled-reader.ts";

/** Ten lines a second, so 40 at once. */
const BOUNDS: Bounds = { longest: 100, linesPerSecond: 10, bytesPerSecond: 1_000_000 };

/** A stream that a process writes, and the test's time. */
function openStream(t: TestContext) {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const time = { now: 1_000 };
  t.mock.method(performance, "now", () => time.now);
  const stream = new Readable({ read: () => undefined });
  const write = async (text: string) => {
    stream.push(text);
    await setImmediate();
  };
  /** Lets this much time pass, in turns of 20 ms. */
  const pass = async (ms: number) => {
    for (let passed = 0; passed < ms; passed += 20) {
      time.now += 20;
      t.mock.timers.tick(20);
      await setImmediate();
    }
  };
  return { stream, time, write, pass };
}

/** A reader of that stream, for which each line takes `lineMs`. */
function openReader(
  t: TestContext,
  {
    lineMs = 0,
    isBusy,
    ...bounds
  }: Partial<Bounds & { lineMs: number; isBusy: () => boolean }> = {},
) {
  const opened = openStream(t);
  const lines: string[] = [];
  const floods: number[] = [];
  const reader = new ThrottledReader(
    opened.stream,
    { ...BOUNDS, ...bounds },
    {
      onLine: ({ bytes }) => {
        lines.push(bytes.toString());
        opened.time.now += lineMs;
      },
      onFlood: (since) => floods.push(since),
      ...(isBusy && { isBusy }),
    },
  );
  return { ...opened, lines, floods, reader };
}

const numbered = (count: number) => Array.from({ length: count }, (_, at) => `${at}\n`).join("");

test("four seconds' worth of lines is read at once, and the rest waits", async (t) => {
  const { write, lines, reader } = openReader(t);

  await write(numbered(39));
  assert.deepEqual([lines.length, reader.isHeldBack, reader.hasUnread], [39, false, false]);
  await write("one more\nand one\n");

  assert.deepEqual([lines.length, reader.isHeldBack, reader.hasUnread], [40, true, true]);
});

test("a held-back stream is paused, and continues at its rate", async (t) => {
  const { write, pass, lines, stream, reader } = openReader(t);
  await write(numbered(60));
  assert.ok(stream.isPaused());

  await pass(100);
  assert.equal(lines.length, 41);
  await pass(900);
  assert.equal(lines.length, 50);
  await pass(1_100);

  assert.equal(lines.length, 60);
  assert.deepEqual(lines, numbered(60).trim().split("\n"));
  assert.deepEqual([stream.isPaused(), reader.hasUnread], [false, false]);
});

test("data that is written while a stream is held back waits behind the rest", async (t) => {
  const { write, pass, lines } = openReader(t);
  await write(numbered(42));

  await write("last\n");
  assert.equal(lines.length, 40);
  await pass(400);

  assert.deepEqual(lines.slice(-3), ["40", "41", "last"]);
});

test("a stream that is held back for half a second and has more is a flood, from when it was held back", async (t) => {
  const { write, pass, floods } = openReader(t);
  await write(numbered(100));

  await pass(500);
  assert.deepEqual(floods, []);
  await pass(20);

  assert.deepEqual(floods, [1_000]);
});

test("a stream that recovered a second's worth is held back no more, and the next flood begins later", async (t) => {
  const { write, pass, floods, reader, time } = openReader(t);
  await write(numbered(41));
  await pass(1_200);
  await write("a\n");
  assert.equal(reader.isHeldBack, false);

  const heldAt = time.now;
  await write(numbered(40));
  assert.equal(reader.isHeldBack, true);
  await pass(520);

  assert.deepEqual(floods, [heldAt]);
});

test("a stream that recovered less stays held back", async (t) => {
  const { write, pass, reader } = openReader(t);
  await write(numbered(41));

  await pass(1_000);
  await write("a\n");

  assert.equal(reader.isHeldBack, true);
});

test("a stream that recovered its lines, and not its bytes, stays held back", async (t) => {
  const { write, pass, reader } = openReader(t, { linesPerSecond: 1_000, bytesPerSecond: 10 });
  await write(`${"x".repeat(41)}\n`);
  await pass(400);
  await write("a\n");
  assert.equal(reader.isHeldBack, true);

  await pass(1_600);
  await write("a\n");

  assert.equal(reader.isHeldBack, false);
});

test("a stream that rested for long has four seconds' worth, and no more", async (t) => {
  const { write, time, lines } = openReader(t);
  time.now += 100_000;

  await write(numbered(50));

  assert.equal(lines.length, 40);
});

test("requested lines come on top of that, and are not lost while the stream rests", async (t) => {
  const { write, time, lines, reader } = openReader(t, { bytesPerSecond: 25 });
  for (let asked = 0; asked < 5; asked++) reader.expectLine(100);
  time.now += 100_000;

  await write(numbered(50));

  assert.equal(lines.length, 45);
});

test("bytes count before they are read, and lines of an exhausted budget wait", async (t) => {
  const { write, pass, lines } = openReader(t, { bytesPerSecond: 10 });

  await write(`${"x".repeat(39)}\n`);
  assert.equal(lines.length, 0);
  await pass(20);

  assert.equal(lines.length, 1);
});

test("after two milliseconds of work the rest of the host gets its turn", async (t) => {
  const { stream, lines, reader } = openReader(t, { lineMs: 1, linesPerSecond: 1_000 });
  stream.push(numbered(8));

  await setImmediate();
  assert.equal(lines.length, 3);
  assert.deepEqual([stream.isPaused(), reader.hasUnread, reader.isHeldBack], [true, true, false]);
  await setImmediate();
  assert.equal(lines.length, 6);
  await setImmediate();

  assert.equal(lines.length, 8);
  assert.deepEqual([stream.isPaused(), reader.hasUnread], [false, false]);
});

test("the rest of an ended process is read at once, whatever its limits", async (t) => {
  const { write, lines, reader, time, pass } = openReader(t, { lineMs: 1 });
  await write(numbered(100));
  time.now += 600;

  const finished = reader.finish();
  assert.equal(lines.length, 100);
  assert.equal(reader.hasUnread, false);
  await finished;

  await pass(100);
  await write("later\n");
  assert.equal(lines.length, 101);
});

test("a last line without an end is read when the stream ends", async (t) => {
  const { stream, write, lines } = openReader(t);
  await write("one\ntw");
  assert.deepEqual(lines, ["one"]);

  stream.push("o");
  stream.push(null);
  await setImmediate();

  assert.deepEqual(lines, ["one", "two"]);
});

test("a stream that breaks is not an error of the host", async (t) => {
  const { stream, write, lines } = openReader(t);
  await write("one\n");

  stream.destroy(new Error("ECONNRESET"));
  await setImmediate();

  assert.deepEqual(lines, ["one"]);
});

/** Work of some steps for each line, each of which takes `stepMs`. */
function openSteps(t: TestContext, stepMs: number) {
  const opened = openStream(t);
  const steps: string[] = [];
  const reader = new ThrottledReader(opened.stream, BOUNDS, {
    *onLine({ bytes }) {
      for (const step of [1, 2, 3]) {
        opened.time.now += stepMs;
        steps.push(`${bytes.toString()}${step}`);
        if (step < 3) yield;
      }
    },
  });
  return { ...opened, steps, reader };
}

test("the steps of a line come before the next line, with turns for the host in between", async (t) => {
  const { stream, steps } = openSteps(t, 3);
  stream.push("a\nb\n");

  await setImmediate();
  assert.deepEqual(steps, ["a1"]);
  await setImmediate();
  assert.deepEqual(steps, ["a1", "a2"]);
  for (let turn = 0; turn < 6; turn++) await setImmediate();

  assert.deepEqual(steps, ["a1", "a2", "a3", "b1", "b2", "b3"]);
});

test("short steps share a turn", async (t) => {
  const { stream, steps } = openSteps(t, 0.5);

  stream.push("a\n");
  await setImmediate();

  assert.deepEqual(steps, ["a1", "a2", "a3"]);
});

test("the steps for the rest of an ended process are in turns too, and it is finished after the last one", async (t) => {
  const { write, steps, reader } = openSteps(t, 3);
  await write("a\nb\n");

  const states: string[] = [];
  const finished = reader.finish().then(() => states.push(`finished after ${steps.at(-1)}`));
  void reader.finish().then(() => states.push("finished too"));
  assert.ok(steps.length < 6, steps.join());
  await finished;
  await Promise.resolve();

  assert.deepEqual(states, ["finished after b3", "finished too"]);
});

test("output is passed on line by line, and its last 30 lines are kept", async (t) => {
  const { stream, write } = openStream(t);
  const printed: string[] = [];
  const output = new Output(stream, (line) => printed.push(line));

  await write(numbered(35));

  assert.equal(printed.length, 35);
  assert.deepEqual(output.lastLines, printed.slice(5));
});

test("a line of output is cut after 16 KiB", async (t) => {
  const { stream, write } = openStream(t);
  const printed: string[] = [];
  const output = new Output(stream, (line) => printed.push(line));

  await write(`${"x".repeat(20_000)}\nnext\n`);

  assert.deepEqual(
    printed.map(({ length }) => length),
    [16_384, 4],
  );
  assert.equal(output.isHeldBack, false);
});

test("a process that prints more than 20,000 lines at once is held back, and its last lines are read when it ends", async (t) => {
  const { stream, write } = openStream(t);
  const printed: string[] = [];
  const output = new Output(stream, (line) => printed.push(line));

  await write("x\n".repeat(19_999));
  assert.equal(output.isHeldBack, false);
  await write("y\n".repeat(11));
  assert.equal(output.isHeldBack, true);
  await output.finish();

  assert.equal(printed.length, 20_010);
});

test("lines wait while the owner is busy, however long, and are not a flood", async (t) => {
  let isBusy = false;
  const { write, pass, lines, floods, reader, stream } = openReader(t, { isBusy: () => isBusy });
  await write("one\n");
  isBusy = true;
  await write("two\nthree\n");
  await pass(2_000);
  assert.deepEqual([lines, floods, reader.hasUnread], [["one"], [], true]);
  assert.ok(stream.isPaused());

  isBusy = false;
  await pass(20);

  assert.deepEqual([lines, reader.hasUnread], [["one", "two", "three"], false]);
});

test("the last lines of an ended process are read although the owner is busy", async (t) => {
  const { write, lines, reader } = openReader(t, { isBusy: () => true });
  await write("one\n");

  await reader.finish();

  assert.deepEqual(lines, ["one"]);
});
