import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { SerialQueue } from "@mantel/plugin-sdk/serial-queue";
import type { ReloadResult } from "../../../host/api/module.ts";
import { ReloadQueue } from "../../../host/modules/lifecycle/reload-queue.ts";
import type { ReloadTrigger } from "../../../host/modules/state/reload-result.ts";

/** A queue whose reloads end when the test says so. */
function openQueue() {
  const turns = new SerialQueue();
  const reloads: {
    readonly trigger: ReloadTrigger;
    readonly underWay: Promise<ReloadResult> | undefined;
    readonly end: (result: ReloadResult) => void;
    readonly fail: (error: Error) => void;
  }[] = [];
  const queue = new ReloadQueue(
    (work) => turns.take(work),
    (trigger, underWay) =>
      new Promise<ReloadResult>((end, fail) => reloads.push({ trigger, underWay, end, fail })),
  );
  const begun = async (count: number) => {
    while (reloads.length < count) await setImmediate();
    return reloads[count - 1] as (typeof reloads)[number];
  };
  return { queue, reloads, begun, turns };
}

const result = (to: number) => ({ result: "reloaded", from: to - 1, to }) as ReloadResult;

test("requests that arrive before a reload begins share its result", async () => {
  const { queue, begun, reloads } = openQueue();

  const answers = [queue.ask("file"), queue.ask("file"), queue.ask("request")];
  (await begun(1)).end(result(2));

  assert.deepEqual(await Promise.all(answers), [result(2), result(2), result(2)]);
  assert.equal(reloads.length, 1);
});

test("requests that arrive during a reload share one further reload, which knows the running one", async () => {
  const { queue, begun, reloads } = openQueue();
  const first = queue.ask("file");
  const running = await begun(1);

  const later = [queue.ask("file"), queue.ask("file")];
  running.end(result(2));
  const second = await begun(2);
  second.end(result(3));

  assert.deepEqual(await Promise.all([first, ...later]), [result(2), result(3), result(3)]);
  assert.equal(running.underWay, undefined);
  assert.deepEqual(await second.underWay, result(2));
  assert.equal(reloads.length, 2);
});

test("a queue is running from the start of a reload to its end, even if it fails", async () => {
  const { queue, begun, turns } = openQueue();
  const failing = queue.ask("file");
  const beforeItsTurn = queue.isRunning;
  const { fail } = await begun(1);
  const during = queue.isRunning;

  fail(new Error("wrong code"));
  await assert.rejects(failing, /wrong code/);
  await turns.ended();

  assert.deepEqual([beforeItsTurn, during, queue.isRunning], [false, true, false]);
});

const TRIGGERS: readonly (readonly [asked: readonly ReloadTrigger[], meant: ReloadTrigger])[] = [
  [["file"], "file"],
  [["request", "file"], "request"],
  [["file", "request"], "request"],
  [["file", "config"], "config"],
  [["file", "sdk", "file"], "sdk"],
  [["config", "file"], "config"],
];

for (const [asked, meant] of TRIGGERS) {
  test(`${asked.join(", then ")} in one reload is a reload by ${meant}`, async () => {
    const { queue, begun } = openQueue();

    const answers = asked.map((trigger) => queue.ask(trigger));
    const { trigger, end } = await begun(1);
    end(result(2));
    await Promise.all(answers);

    assert.equal(trigger, meant);
  });
}

test("the trigger of one reload does not pass to the next", async () => {
  const { queue, begun } = openQueue();
  const first = queue.ask("config");
  (await begun(1)).end(result(2));
  await first;

  const second = queue.ask("file");
  const { trigger, end } = await begun(2);
  end(result(3));
  await second;

  assert.equal(trigger, "file");
});
