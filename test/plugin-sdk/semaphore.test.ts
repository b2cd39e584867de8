import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { Semaphore } from "../../plugin-sdk/semaphore.ts";

test("the number of taken slots is limited, and slots are given out in order", async () => {
  const slots = new Semaphore(2);
  const taken: number[] = [];
  for (const at of [1, 2, 3, 4]) void slots.take().then(() => taken.push(at));
  await turn();
  assert.deepEqual(taken, [1, 2]);

  slots.giveBack();
  await turn();
  assert.deepEqual(taken, [1, 2, 3]);

  slots.giveBack();
  await turn();
  assert.deepEqual(taken, [1, 2, 3, 4]);
});

test("a returned slot is free if no caller waits for it", async () => {
  const slots = new Semaphore(1);
  await slots.take();

  slots.giveBack();

  await slots.take();
});
