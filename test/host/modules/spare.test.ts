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
