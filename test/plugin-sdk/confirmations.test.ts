import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { Confirmations } from "@mantel/plugin-sdk";

/** Commands that wait until a device reports `on`. */
function open(t: TestContext) {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const confirmations = new Confirmations<string>();
  const command = {
    send: async () => undefined as unknown,
    isConfirmed: (report: string) => report === "on",
    deadlineMs: 1_000,
  };
  const strict = { ...command, overdue: () => "the lamp has not confirmed on" };
  return { confirmations, command, strict };
}

test("a command is confirmed by a report of its own device", async (t) => {
  const { confirmations, strict } = open(t);
  let isDone = false;
  const done = confirmations.confirm("lamp", strict).then(() => (isDone = true));

  confirmations.report("plug", "on");
  confirmations.report("lamp", "off");
  await new Promise(setImmediate);
  assert.equal(isDone, false);
  confirmations.report("lamp", "on");

  await done;
});

test("a report counts that arrives before the command is acknowledged", async (t) => {
  const { confirmations, strict } = open(t);
  const send = () => {
    confirmations.report("lamp", "on");
    return new Promise(() => undefined);
  };

  await confirmations.confirm("lamp", { ...strict, send });
});

test("a report before the command does not confirm it", async (t) => {
  const { confirmations, strict } = open(t);
  confirmations.report("lamp", "on");
  const done = confirmations.confirm("lamp", strict);

  t.mock.timers.tick(1_000);

  await assert.rejects(done, { code: "deadline_passed", message: "the lamp has not confirmed on" });
});

test("a command whose device never reports is done at the deadline", async (t) => {
  const { confirmations, command } = open(t);
  const done = confirmations.confirm("lamp", { ...command, isConfirmed: () => false });

  confirmations.report("lamp", "on");
  t.mock.timers.tick(1_000);

  await done;
});

test("a command fails with the error of its message, of its device and of the connection", async (t) => {
  const { confirmations, command, strict } = open(t);
  const lost = new Error("the connection was lost");
  const refused = new Error("the device refused");

  const unsent = confirmations.confirm("a", { ...strict, send: () => Promise.reject(lost) });
  const failed = confirmations.confirm("b", command);
  const others = ["c", "d"].map((nativeId) => confirmations.confirm(nativeId, strict));
  confirmations.fail("b", refused);
  confirmations.failAll(lost);

  await assert.rejects(unsent, lost);
  await assert.rejects(failed, refused);
  for (const other of others) await assert.rejects(other, lost);
});

test("two commands to one device are confirmed separately", async (t) => {
  const { confirmations, strict } = open(t);
  const on = confirmations.confirm("lamp", strict);
  const off = confirmations.confirm("lamp", { ...strict, isConfirmed: (is) => is === "off" });

  confirmations.report("lamp", "on");
  await on;
  confirmations.report("lamp", "off");
  await off;
});

test("a settled command leaves no timer", async () => {
  const timers = () => process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;
  const confirmations = new Confirmations<string>();
  const before = timers();
  const done = confirmations.confirm("lamp", {
    send: async () => undefined,
    isConfirmed: () => true,
    deadlineMs: 60_000,
  });
  assert.equal(timers(), before + 1);

  confirmations.report("lamp", "on");
  await done;

  assert.equal(timers(), before);
});
