import assert from "node:assert/strict";
import { test } from "node:test";
import { BridgeQueue } from "../../../host/devices/bridge-queue.ts";
import { isUp } from "../../../host/devices/bridge.ts";
import { createBridge } from "./open-devices.ts";

test("a bridge is up while it works, even in part, and during a short interruption", () => {
  const bridge = createBridge("b", "demo");
  const statuses = ["ok", "degraded", "starting", "down"] as const;
  const seen = statuses.map((status) => {
    bridge.status = status;
    return [status, isUp(bridge), isUp({ ...bridge, view: bridge.view, isComingBack: true })];
  });

  assert.deepEqual(seen, [
    ["ok", true, true],
    ["degraded", true, true],
    ["starting", false, true],
    ["down", false, true],
  ]);
  assert.equal(isUp(undefined), false);
});

test("the messages of a bridge are processed in order, also after a failure, and others do not wait", async () => {
  const queue = new BridgeQueue();
  const done: string[] = [];
  let finish = (): void => undefined;
  const held = new Promise<void>((resolve) => (finish = resolve));

  const first = queue.take("b", async () => {
    await held;
    done.push("first");
    throw new Error("the disk is full");
  });
  const second = queue.take("b", async () => void done.push("second"));
  const third = queue.follow("b", () => void done.push("third"));
  await queue.take("other", async () => void done.push("other"));
  void queue.follow("idle", () => void done.push("at once"));
  assert.deepEqual(done, ["other", "at once"]);
  finish();

  await assert.rejects(first, { message: "the disk is full" });
  await Promise.all([second, third]);
  assert.deepEqual(done, ["other", "at once", "first", "second", "third"]);
});

test("once all work of a bridge is done, the next message is processed at once", async () => {
  const queue = new BridgeQueue();
  await queue.take("b", async () => undefined);
  await Promise.resolve();
  let isDone = false;

  void queue.follow("b", () => void (isDone = true));

  assert.ok(isDone);
});

test("the failure of a following message reaches its caller", async () => {
  const queue = new BridgeQueue();

  await assert.rejects(
    queue.follow("b", () => {
      throw new Error("invalid");
    }),
    { message: "invalid" },
  );
});
