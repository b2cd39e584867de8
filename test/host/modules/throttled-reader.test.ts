import assert from "node:assert/strict";
import { PassThrough } from "node:stream";
import { test } from "node:test";
import { type Bounds, ThrottledReader } from "../../../host/modules/process/throttled-reader.ts";
import { watchResources } from "../../helpers/resources.ts";
import { until, untilByTurns } from "../../helpers/until.ts";

const BOUNDS: Bounds = { longest: 100, linesPerSecond: 1_000, bytesPerSecond: 1_000_000 };

function openIntake(bounds: Partial<Bounds> = {}) {
  const stream = new PassThrough();
  const lines: string[] = [];
  const floods: number[] = [];
  const intake = new ThrottledReader(
    stream,
    { ...BOUNDS, ...bounds },
    {
      onLine: ({ bytes }) => void lines.push(bytes.toString()),
      onFlood: (since) => floods.push(since),
    },
  );
  return { stream, lines, floods, intake };
}

test("lines arrive in order, including an unfinished last one", async () => {
  const { stream, lines, floods } = openIntake();

  stream.write("one\ntw");
  stream.end("o\nthree");

  await until(() => lines.length === 3);
  assert.deepEqual([lines, floods], [["one", "two", "three"], []]);
});

test("a burst of four seconds' worth is accepted, and the rest is delayed", async (t) => {
  const assertClosed = watchResources();
  const startedAt = performance.now();
  const clock = t.mock.method(performance, "now", () => startedAt);
  const { stream, lines, intake, floods } = openIntake();

  stream.write("line\n".repeat(4_400));

  await untilByTurns(() => intake.isHeldBack);
  assert.equal(lines.length, 4_000);
  clock.mock.restore();
  await until(() => lines.length === 4_400);
  assert.deepEqual(floods, []);
  stream.end();
  await assertClosed();
});

test("messages for half a second without a pause are a flood", async () => {
  const { stream, lines, floods, intake } = openIntake();

  const startedAt = performance.now();
  stream.write("line\n".repeat(10_000));

  await until(() => floods.length > 0);
  assert.ok((floods[0] ?? 0) >= startedAt);
  assert.ok(lines.length < 6_000, String(lines.length));
  void intake.finish();
  assert.equal(lines.length, 10_000);
});

test("bytes are counted as well as lines", async () => {
  const { stream, floods, intake } = openIntake({ bytesPerSecond: 1_000 });

  stream.write(`${"x".repeat(90)}\n`.repeat(100));

  await until(() => floods.length > 0);
  void intake.finish();
});

test("a requested answer does not count towards the limit", async () => {
  const { stream, lines, intake } = openIntake({ linesPerSecond: 1 });

  for (let asked = 0; asked < 100; asked++) intake.expectLine(10);
  stream.write("line\n".repeat(100));

  await until(() => lines.length === 100);
  assert.equal(intake.isHeldBack, false);
});

test("a busy stream shares the event loop with others", async () => {
  const { stream, lines } = openIntake({ linesPerSecond: 1_000_000, bytesPerSecond: 1e9 });
  let turns = 0;
  const count = (): void => {
    turns++;
    if (lines.length < 200_000) setImmediate(count);
  };

  stream.write("line\n".repeat(200_000));
  count();

  await until(() => lines.length === 200_000);
  assert.ok(turns > 3, String(turns));
});

test("a long line is parsed in turns and completes before the next line", async () => {
  const heard: string[] = [];
  const stream = new PassThrough();
  const intake = new ThrottledReader(stream, BOUNDS, {
    *onLine({ bytes }) {
      for (let step = 0; step < 10; step++) {
        const endsAt = performance.now() + 1;
        while (performance.now() < endsAt);
        yield;
      }
      heard.push(bytes.toString());
    },
  });
  let turns = 0;
  const counting = setInterval(() => turns++, 0);

  stream.write("one\ntwo\n");
  const finished = intake.finish();
  assert.deepEqual(heard, []);
  await finished;
  clearInterval(counting);

  assert.deepEqual(heard, ["one", "two"]);
  assert.ok(turns > 1, String(turns));
});
