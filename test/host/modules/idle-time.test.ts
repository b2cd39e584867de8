import assert from "node:assert/strict";
import { test } from "node:test";
import { IdleTime } from "../../../host/modules/lifecycle/rest.ts";

test("the time without work counts from when a process first had none, without a call since", (t) => {
  let now = 1_000;
  t.mock.method(performance, "now", () => now);
  const idle = new IdleTime();
  const pass = (ms: number) => void (now += ms);
  idle.add(true, 0);
  pass(500);
  idle.add(true, 0);
  pass(500);
  assert.equal(idle.msAt(0), 1_000);
  assert.equal(idle.msAt(1), 0, "it was called just now");

  idle.add(true, 1);
  assert.equal(idle.msAt(1), 0, "it was called since it was asked before");
  pass(500);
  idle.add(true, 1);
  pass(250);
  assert.equal(idle.msAt(1), 250);
});

test("the time without work begins again with work, and when somebody needs the process", (t) => {
  let now = 0;
  t.mock.method(performance, "now", () => now);
  const idle = new IdleTime();
  assert.equal(idle.msAt(0), 0);
  idle.add(true, 0);
  now = 500;

  idle.add(false, 0);
  now = 1_000;
  assert.equal(idle.msAt(0), 0);
  idle.add(true, 0);
  now = 1_500;
  assert.equal(idle.msAt(0), 500);
  idle.restart();

  assert.equal(idle.msAt(0), 0);
});
