import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as tick } from "node:timers/promises";
import { SerialQueue } from "../../plugin-sdk/serial-queue.ts";

test("work runs one after another, and a failure does not stop later work", async () => {
  const turns = new SerialQueue();
  const done: string[] = [];
  const work = (name: string) => async () => {
    done.push(`${name} starts`);
    await tick();
    done.push(`${name} ends`);
    if (name === "first") throw new Error("it fails");
    return name;
  };

  const [first, second] = await Promise.allSettled([
    turns.take(work("first")),
    turns.take(work("second")),
  ]);

  assert.equal(first.status, "rejected");
  assert.deepEqual(second, { status: "fulfilled", value: "second" });
  assert.deepEqual(done, ["first starts", "first ends", "second starts", "second ends"]);
});

test("ended() waits for all requested work", async () => {
  const turns = new SerialQueue();
  let done = 0;
  for (let i = 0; i < 3; i++) void turns.take(async () => void (await tick(), done++));

  await turns.ended();

  assert.equal(done, 3);
});
