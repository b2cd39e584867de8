import assert from "node:assert/strict";
import { test } from "node:test";
import { MantelError } from "@mantel/plugin-sdk";
import type { DeviceImage } from "@mantel/plugin-sdk/device-image";
import { until } from "../../helpers/until.ts";
import { startRunner } from "./start-runner.ts";

const picture = (number: number): DeviceImage => ({
  type: "image/jpeg",
  bytes: Uint8Array.of(0xff, 0xd8, 0xff, number),
});
const lastByte = (sent: { base64: string } | null): number | undefined =>
  sent === null ? undefined : Buffer.from(sent.base64, "base64")[3];

/** A camera to which the test gives its pictures. */
function camera() {
  const begun: AbortSignal[] = [];
  let give: (next: DeviceImage | Error | undefined) => void = () => undefined;
  async function* frames(_: string, signal: AbortSignal): AsyncGenerator<DeviceImage> {
    begun.push(signal);
    for (;;) {
      const next = await new Promise<DeviceImage | Error | undefined>((resolve) => {
        give = resolve;
        signal.addEventListener("abort", () => resolve(undefined));
      });
      if (next === undefined) return;
      if (next instanceof Error) throw next;
      yield next;
    }
  }
  return { begun, frames, give: (next?: DeviceImage | Error) => give(next) };
}

test("a plugin follows the live picture of a device once, and gives the newest picture", async (t) => {
  const { frames, begun, give } = camera();
  const { runner, started } = await startRunner(t, () => ({ frames }));
  await started;
  const ask = (after: number) => runner.nextFrame({ nativeId: "front", after });

  const waiting = [ask(0), ask(0)];
  await until(() => begun.length > 0);
  give(picture(1));
  const [first, second] = await Promise.all(waiting);
  assert.deepEqual([lastByte(first ?? null), lastByte(second ?? null)], [1, 1]);
  const number = first?.number ?? 0;
  assert.ok(number > Date.now() - 60_000);

  const third = ask(number);
  give(picture(2));
  assert.equal(lastByte(await third), 2);
  assert.equal(lastByte(await ask(number)), 2);
  assert.equal(begun.length, 1);
});

test("a reload ends it without delay, and tells waiting callers to ask again", async (t) => {
  const { frames, begun } = camera();
  const { runner, started } = await startRunner(t, () => ({ frames }));
  await started;
  const waiting = runner.nextFrame({ nativeId: "front", after: 0 });
  await until(() => begun.length > 0);

  const { drained, faults } = await runner.quiesce({ deadlineMs: 60_000 });

  assert.equal(await waiting, null);
  assert.deepEqual([drained, faults, begun[0]?.aborted], [0, [], true]);
  assert.equal(await runner.nextFrame({ nativeId: "front", after: 0 }), null);
});

test("the error that ends it is told, and the next call begins again", async (t) => {
  const { frames, begun, give } = camera();
  const { runner, started } = await startRunner(t, () => ({ frames }));
  await started;
  const ask = () => runner.nextFrame({ nativeId: "front", after: 0 });

  for (const [end, code] of [
    [new MantelError("bridge_down", "the camera is away"), "bridge_down"],
    [undefined, "not_found"],
    [{ type: "image/jpeg", bytes: Uint8Array.of(1, 2, 3) } as DeviceImage, "not_found"],
  ] as const) {
    const before = begun.length;
    const asked = ask();
    await until(() => begun.length > before);
    give(end);
    await assert.rejects(asked, { code });
  }
});

test("a plugin without live pictures or video says so", async (t) => {
  const { runner, started } = await startRunner(t, () => ({ video: async () => "" }));
  await started;

  await assert.rejects(runner.nextFrame({ nativeId: "front", after: 0 }), { code: "not_found" });
  await assert.rejects(runner.video({ nativeId: "front", offer: "v=0" }), { code: "not_found" });
});

test("a live picture that nobody asks for ends after five seconds", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const { frames, begun, give } = camera();
  const { runner, started } = await startRunner(t, () => ({ frames }));
  await started;
  const waiting = runner.nextFrame({ nativeId: "front", after: 0 });
  while (begun.length === 0) await Promise.resolve();
  give(picture(1));
  await waiting;

  t.mock.timers.tick(4_999);
  assert.equal(begun[0]?.aborted, false);
  t.mock.timers.tick(1);
  assert.equal(begun[0]?.aborted, true);
});
