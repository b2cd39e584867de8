import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { LoopWatch } from "../../../host/dashboard/loop-watch.ts";

const ENDLESS = /infinite loop/;

test("an endless loop is ended after a second, and no further loop can start", (t) => {
  const { watch, faults, elapsed } = opened(t, { passMs: 0.01 });

  assert.throws(() => loop(watch), ENDLESS);
  assert.throws(() => watch.pass(), ENDLESS);

  assert.equal(faults.length, 1);
  assert.ok(elapsed() > 990 && elapsed() < 1_100, `${elapsed()} ms`);
});

test("a loop of long passes is ended after about the same time", (t) => {
  const { watch, elapsed } = opened(t, { passMs: 20 });

  assert.throws(() => loop(watch), ENDLESS);

  assert.ok(elapsed() < 2_500, `${elapsed()} ms`);
});

test("loops spread over many turns have no total limit", async (t) => {
  const { watch, faults, elapsed } = opened(t, { passMs: 0.1 });

  for (let turn = 0; turn < 20; turn++) {
    for (let pass = 0; pass < 2_000; pass++) watch.pass();
    await new Promise<void>((resolve) => setImmediate(resolve));
  }

  assert.ok(elapsed() > 3_000, `${elapsed()} ms`);
  assert.deepEqual(faults, []);
});

test("time used by others in between does not count for the widget", (t) => {
  const { watch, faults, wait } = opened(t, { passMs: 0 });

  for (let times = 0; times < 10; times++) {
    for (let pass = 0; pass < 100; pass++) watch.pass();
    wait(3_000);
  }

  assert.deepEqual(faults, []);
});

function loop(watch: LoopWatch): never {
  for (;;) watch.pass();
}

/** A watch in a world in which a pass takes `passMs`. */
function opened(t: TestContext, { passMs }: { passMs: number }) {
  let now = 0;
  t.mock.method(performance, "now", () => now);
  const faults: Error[] = [];
  const inner = new LoopWatch((error) => faults.push(error));
  const pass = (): void => {
    now += passMs;
    inner.pass();
  };
  const watch = Object.assign(Object.create(LoopWatch.prototype) as LoopWatch, { pass });
  return { watch, faults, elapsed: () => now, wait: (ms: number) => void (now += ms) };
}
