import assert from "node:assert/strict";
import { EventEmitter, once } from "node:events";
import { test } from "node:test";
import { Spare } from "../../../host/modules/process/spare.ts";

test("of several reloads at once the last one has the next spare started, also when it fails", async () => {
  const spare = new Spare();
  const ends = new EventEmitter();
  const warmed: string[] = [];
  const reload = (name: string, work: () => Promise<unknown>) =>
    spare.whileReloading(work, () => void warmed.push(name));
  const first = reload("first", () => once(ends, "first"));
  const second = reload("second", () => once(ends, "second"));

  ends.emit("first");
  await first;
  assert.deepEqual(warmed, []);
  ends.emit("error", new Error("wrong code")); // which is how `once` fails
  await assert.rejects(second, /wrong code/);
  assert.deepEqual(warmed, ["second"]);

  await reload("third", async () => undefined);
  assert.deepEqual(warmed, ["second", "third"]);
});

test("reloads that are part of one that has no spare of its own leave the start of the next one to it", async () => {
  const spare = new Spare();
  const warmed: string[] = [];

  await spare.whileReloading(async () => {
    for (const name of ["first", "second"]) {
      await spare.whileReloading(
        async () => undefined,
        () => void warmed.push(name),
      );
    }
    assert.deepEqual(warmed, []);
  });
  assert.deepEqual(warmed, ["second"]);

  await spare.whileReloading(async () => undefined);
  assert.deepEqual(warmed, ["second"]);
});
