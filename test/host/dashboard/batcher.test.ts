import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { Batcher } from "../../../host/dashboard/batcher.ts";

test("changes that arrive together are batched in order", (t) => {
  const { bunch, handed } = opened(t);

  for (const item of [1, 2, 3]) bunch.add(item);
  t.mock.timers.tick(0);

  assert.deepEqual(handed, [[1, 2, 3]]);
});

test("a storm is batched ten times a second, and a change after a pause is sent immediately", (t) => {
  const { bunch, handed, pass } = opened(t);

  for (let at = 0; at < 100; at++) {
    bunch.add(at);
    pass(10);
  }

  assert.ok(handed.length >= 9 && handed.length <= 11, `${handed.length} times`);
  pass(100);
  assert.equal(handed.flat().length, 100);
  const before = handed.length;
  pass(1_000);
  bunch.add(100);
  pass(0);
  assert.deepEqual(handed.slice(before), [[100]]);
});

test("without timers at most a thousand changes wait", (t) => {
  const { bunch, handed } = opened(t);

  for (let at = 0; at < 2_500; at++) bunch.add(at);

  assert.deepEqual(
    handed.map(({ length }) => length),
    [1_000, 1_000],
  );
});

test("a flush sends the waiting changes and the next one immediately", (t) => {
  const { bunch, handed, pass } = opened(t);
  bunch.add(1);
  pass(0);

  bunch.add(2);
  bunch.sendWithoutDelay();
  bunch.add(3);
  pass(0);

  assert.deepEqual(handed, [[1], [2], [3]]);
});

test("a flush without waiting changes sends nothing", (t) => {
  const { bunch, handed } = opened(t);

  bunch.sendWithoutDelay();

  assert.deepEqual(handed, []);
});

test("dropped changes are not sent", (t) => {
  const { bunch, handed, pass } = opened(t);

  bunch.add(1);
  bunch.drop();
  pass(200);
  bunch.add(2);
  pass(200);

  assert.deepEqual(handed, [[2]]);
});

function opened(t: TestContext) {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  let now = 0;
  t.mock.method(performance, "now", () => now);
  const handed: (readonly number[])[] = [];
  const bunch = new Batcher<number>((items) => handed.push(items));
  return {
    bunch,
    handed,
    pass: (ms: number) => {
      now += ms;
      t.mock.timers.tick(ms);
    },
  };
}
