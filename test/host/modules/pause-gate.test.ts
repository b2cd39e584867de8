import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { PauseGate } from "../../../host/modules/lifecycle/pause-gate.ts";

test("calls pass an open gate at once", async () => {
  const gate = new PauseGate(
    "lamp",
    () => 1,
    () => 0,
  );

  const first = await Promise.race([gate.pass().then(() => "passed"), setImmediate("waited")]);

  assert.equal(first, "passed");
});

test("calls wait at a closed gate and continue in order", async () => {
  const gate = new PauseGate(
    "lamp",
    () => 10,
    () => 0,
  );
  const passed: number[] = [];
  gate.close();

  const calls = [1, 2, 3].map(async (call) => {
    await gate.pass();
    passed.push(call);
  });
  await Promise.resolve();
  assert.deepEqual(passed, []);
  gate.open();
  await Promise.all(calls);

  assert.deepEqual(passed, [1, 2, 3]);
});

test("calls beyond the queue length are refused with a time to retry", async () => {
  const gate = new PauseGate(
    "lamp",
    () => 1,
    () => 0,
  );
  gate.close();
  const waiting = gate.pass();

  await assert.rejects(gate.pass(), {
    code: "module_down",
    message: "1 calls already wait for lamp",
    extras: { retryAfterMs: 1_000 },
  });

  gate.open();
  await waiting;
});

test("a waiting call times out", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const gate = new PauseGate(
    "lamp",
    () => 1,
    () => 0,
  );
  gate.close();

  const refused = assert.rejects(gate.pass(), { code: "module_down" });
  t.mock.timers.tick(2_000);

  await refused;
});

test("a call waits longer while the process and the host wait for a CPU, within a limit", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  let waitedMs = 50;
  const gate = new PauseGate(
    "lamp",
    () => 3,
    () => waitedMs,
  );
  gate.close();
  const outcomes: string[] = [];
  const note = (name: string) => (error?: Error) =>
    void outcomes.push(error ? error.message : name);
  const pass = async (name: string, longestMs?: number) =>
    gate.pass(longestMs).then(() => note(name)(), note(name));
  const passAll = [pass("one"), pass("impatient", 2_100)];

  waitedMs += 1_000;
  t.mock.timers.tick(2_000);
  await setImmediate();
  assert.deepEqual(outcomes, []);
  t.mock.timers.tick(100);
  await setImmediate();
  assert.deepEqual(outcomes, ["lamp did not come back within 2100 ms"]);
  waitedMs += 100_000;
  t.mock.timers.tick(900);
  t.mock.timers.tick(2_999);
  await setImmediate();
  assert.equal(outcomes.length, 1);
  t.mock.timers.tick(1);
  await Promise.all(passAll);
  assert.equal(outcomes[1], "lamp did not come back within 6000 ms");
});

test("a call waits no longer than its own deadline", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const gate = new PauseGate(
    "lamp",
    () => 1,
    () => 0,
  );
  gate.close();
  let refusal: unknown;
  gate.pass(300).catch((error: unknown) => (refusal = error));

  t.mock.timers.tick(299);
  await setImmediate();
  const before = refusal;
  t.mock.timers.tick(1);
  await setImmediate();

  assert.equal(before, undefined);
  assert.match(String(refusal), /lamp did not come back within 300 ms/);
});

test("a call that waited too long leaves its place to another one", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const gate = new PauseGate(
    "lamp",
    () => 1,
    () => 0,
  );
  gate.close();
  const refused = assert.rejects(gate.pass(), { code: "module_down" });
  t.mock.timers.tick(2_000);
  await refused;

  const next = gate.pass();
  gate.open();

  await next;
});

test("a call that waited too long does not end the wait of others", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const gate = new PauseGate(
    "lamp",
    () => 2,
    () => 0,
  );
  gate.close();
  const patient = gate.pass(1_000);
  const refused = assert.rejects(gate.pass(300), { code: "module_down" });
  t.mock.timers.tick(300);
  await refused;

  gate.open();

  await patient;
});

test("a gate opens and closes again and again", async () => {
  const gate = new PauseGate(
    "lamp",
    () => 1,
    () => 0,
  );

  for (const _ of [1, 2, 3]) {
    gate.close();
    const waiting = gate.pass();
    gate.open();
    await waiting;
  }

  assert.equal(gate.isOpen, true);
});

test("the time for which a gate was closed adds up", (t) => {
  let now = 1_000;
  t.mock.method(performance, "now", () => now);
  const gate = new PauseGate(
    "lamp",
    () => 1,
    () => 0,
  );
  const pause = (ms: number) => {
    gate.close();
    now += ms / 2;
    gate.close(); // it is closed already
    now += ms / 2;
    gate.open();
    now += 500;
    gate.open();
  };
  assert.equal(gate.pausedMs, 0);

  pause(30);
  pause(12);

  assert.equal(gate.pausedMs, 42);
  gate.close();
  now += 100;
  assert.equal(gate.pausedMs, 42);
});

test("a closed gate tells of each call that begins to wait", async () => {
  const waits: number[] = [];
  const gate = new PauseGate(
    "lamp",
    () => 2,
    () => 0,
    () => waits.push(waits.length),
  );
  await gate.pass();
  assert.deepEqual(waits, []);
  gate.close();

  const calls = [gate.pass(), gate.pass()];
  await assert.rejects(gate.pass(), { code: "module_down" }); // too many

  assert.deepEqual(waits, [0, 1]);
  gate.open();
  await Promise.all(calls);
});
