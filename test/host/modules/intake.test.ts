import assert from "node:assert/strict";
import { PassThrough } from "node:stream";
import { test } from "node:test";
import { type Bounds, Intake } from "../../../host/modules/process/intake.ts";
import { watchResources } from "../../helpers/resources.ts";
import { until } from "../../helpers/until.ts";

const BOUNDS: Bounds = { longest: 100, linesPerSecond: 1_000, bytesPerSecond: 1_000_000 };

function openIntake(bounds: Partial<Bounds> = {}) {
  const stream = new PassThrough();
  const lines: string[] = [];
  const floods: number[] = [];
  const intake = new Intake(
    stream,
    { ...BOUNDS, ...bounds },
    {
      onLine: ({ bytes }) => lines.push(bytes.toString()),
      onFlood: (since) => floods.push(since),
    },
  );
  return { stream, lines, floods, intake };
}

test("lines come in order, and the last one without its end too", async () => {
  const { stream, lines, floods } = openIntake();

  stream.write("one\ntw");
  stream.end("o\nthree");

  await until(() => lines.length === 3);
  assert.deepEqual([lines, floods], [["one", "two", "three"], []]);
});

test("four seconds' worth may come at once, and what is beyond waits for its time", async () => {
  const assertClosed = watchResources();
  const { stream, lines, intake, floods } = openIntake();

  stream.write("line\n".repeat(4_400));

  await until(() => intake.isHeldBack);
  assert.ok(lines.length < 4_400, String(lines.length));
  await until(() => lines.length === 4_400);
  assert.deepEqual(floods, []);
  stream.end();
  await assertClosed();
});

test("what comes for half a second without a pause is a flood", async () => {
  const { stream, lines, floods, intake } = openIntake();

  const startedAt = performance.now();
  stream.write("line\n".repeat(10_000));

  await until(() => floods.length > 0);
  assert.ok((floods[0] ?? 0) >= startedAt);
  assert.ok(lines.length < 6_000, String(lines.length));
  intake.finish();
  assert.equal(lines.length, 10_000);
});

test("bytes are counted as well as lines", async () => {
  const { stream, floods, intake } = openIntake({ bytesPerSecond: 1_000 });

  stream.write(`${"x".repeat(90)}\n`.repeat(100));

  await until(() => floods.length > 0);
  intake.finish();
});

test("an answer that was asked for is not counted", async () => {
  const { stream, lines, intake } = openIntake({ linesPerSecond: 1 });

  for (let asked = 0; asked < 100; asked++) intake.expectLine(10);
  stream.write("line\n".repeat(100));

  await until(() => lines.length === 100);
  assert.equal(intake.isHeldBack, false);
});

test("a stream that has much to say lets others have their turns", async () => {
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
