import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { Bunch } from "../../../host/dashboard/bunch.ts";

test("what comes together is handed on together, in its order", (t) => {
  const { bunch, handed } = opened(t);

  for (const item of [1, 2, 3]) bunch.add(item);
  t.mock.timers.tick(0);

  assert.deepEqual(handed, [[1, 2, 3]]);
});

test("a storm is handed on ten times a second, and what comes after a rest at once", (t) => {
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

test("without timers no more than a thousand wait", (t) => {
  const { bunch, handed } = opened(t);

  for (let at = 0; at < 2_500; at++) bunch.add(at);

  assert.deepEqual(
    handed.map(({ length }) => length),
    [1_000, 1_000],
  );
});

test("in a hurry what waits is handed on at once, and so is what comes next", (t) => {
  const { bunch, handed, pass } = opened(t);
  bunch.add(1);
  pass(0);

  bunch.add(2);
  bunch.hurry();
  bunch.add(3);
  pass(0);

  assert.deepEqual(handed, [[1], [2], [3]]);
});

test("what was dropped is not handed on", (t) => {
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
  const bunch = new Bunch<number>((items) => handed.push(items));
  return {
    bunch,
    handed,
    pass: (ms: number) => {
      now += ms;
      t.mock.timers.tick(ms);
    },
  };
}
