import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { DelayedCall, every, Throttle } from "@mantel/plugin-sdk";
import { DisposeScope } from "@mantel/plugin-sdk/dispose";

function mockClock(t: TestContext) {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  let now = 0;
  t.mock.method(performance, "now", () => now);
  return (ms: number) => {
    now += ms;
    t.mock.timers.tick(ms);
  };
}

test("a delayed call is made once, at the time of the first request", (t) => {
  const pass = mockClock(t);
  let calls = 0;
  const delayed = new DelayedCall(() => calls++);

  delayed.start(100);
  pass(60);
  delayed.start(100);
  assert.equal(delayed.isWaiting, true);
  pass(40);
  assert.equal(calls, 1);
  assert.equal(delayed.isWaiting, false);
  pass(1_000);

  assert.equal(calls, 1);
});

test("a restarted call waits again, and a stopped one is not made", (t) => {
  const pass = mockClock(t);
  let calls = 0;
  const delayed = new DelayedCall(() => calls++);

  delayed.start(100);
  pass(60);
  delayed.restart(100);
  pass(60);
  assert.equal(calls, 0);
  delayed.stop();
  pass(1_000);

  assert.equal(calls, 0);
});

test("a flushed call is made immediately, and only if it was waiting", (t) => {
  const pass = mockClock(t);
  let calls = 0;
  const delayed = new DelayedCall(() => calls++);

  delayed.flush();
  assert.equal(calls, 0);
  delayed.start(100);
  delayed.flush();
  pass(1_000);

  assert.equal(calls, 1);
});

test("a call can request itself again", (t) => {
  const pass = mockClock(t);
  let calls = 0;
  const delayed: DelayedCall = new DelayedCall(() => {
    calls++;
    delayed.start(10);
  });

  delayed.start(10);
  for (let at = 0; at < 3; at++) pass(10);

  assert.equal(calls, 3);
});

test("a throttled call is made immediately, and then at most once in its interval", (t) => {
  const pass = mockClock(t);
  let calls = 0;
  const throttle = new Throttle(20, () => calls++);

  for (let at = 0; at < 5; at++) throttle.request();
  assert.equal(calls, 1);
  pass(19);
  assert.equal(calls, 1);
  pass(1);
  assert.equal(calls, 2);
  throttle.request();
  throttle.stop();
  pass(1_000);

  assert.equal(calls, 2);
});

test("requests do not follow one another closely when a throttled call takes longer than its interval", (t) => {
  const pass = mockClock(t);
  let calls = 0;
  const throttle = new Throttle(20, () => {
    calls++;
    pass(30);
  });

  throttle.request();
  assert.equal(calls, 1);
  for (let at = 0; at < 5; at++) throttle.request();
  assert.equal(calls, 1);
  pass(19);
  assert.equal(calls, 1);
  pass(1);

  assert.equal(calls, 2);
});

test("a throttled call that is made early replaces the waiting one", (t) => {
  const pass = mockClock(t);
  let calls = 0;
  const throttle = new Throttle(20, () => calls++);

  throttle.flush();
  assert.equal(calls, 0);
  throttle.request();
  throttle.request();
  throttle.flush();
  assert.equal(calls, 2);
  throttle.request();
  throttle.run();
  pass(1_000);

  assert.equal(calls, 3);
});

test("work that is repeated at an interval ends with the generation", async (t) => {
  t.mock.timers.enable({ apis: ["setInterval"] });
  const generation = new DisposeScope();
  let calls = 0;

  every(generation, 100, () => calls++);
  t.mock.timers.tick(250);
  assert.equal(calls, 2);
  await generation.dispose();
  t.mock.timers.tick(1_000);

  assert.equal(calls, 2);
});
