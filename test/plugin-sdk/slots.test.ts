import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { Slots } from "../../plugin-sdk/slots.ts";

test("no more are taken at once than there are, and they go round in order", async () => {
  const slots = new Slots(2);
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

test("a slot that nobody waits for is free again", async () => {
  const slots = new Slots(1);
  await slots.take();

  slots.giveBack();

  await slots.take();
});
