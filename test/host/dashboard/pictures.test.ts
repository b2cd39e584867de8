import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { setImmediate } from "node:timers/promises";
import type { CameraPicture } from "@mantel/plugin-sdk/widget";
import { signal } from "@preact/signals-core";
import { refreshPicture } from "../../../host/dashboard/pictures.ts";
import { mockAgain } from "../../helpers/mock-again.ts";

let cameras = 0;

/** A camera of its own, which answers when the test lets it. */
function camera(t: TestContext) {
  t.mock.timers.reset();
  t.mock.timers.enable({ apis: ["setTimeout", "Date"], now: 1_000_000 });
  const closed: number[] = [];
  let made = 0;
  const bitmapOf = async () => {
    const number = ++made;
    return { close: () => closed.push(number), number };
  };
  if (!("createImageBitmap" in globalThis)) Object.assign(globalThis, { createImageBitmap() {} });
  mockAgain(t, globalThis as { createImageBitmap: unknown }, "createImageBitmap", bitmapOf);
  const id = `garage:camera:${++cameras}`;
  const picture = signal<CameraPicture>({ bitmap: undefined, takenAt: undefined, failed: false });
  const asked: string[] = [];
  let answers: ((answer: Response | Error) => void)[] = [];
  const read = (path: string, ended: AbortSignal) => {
    asked.push(path);
    return new Promise<Response>((resolve, reject) => {
      ended.addEventListener("abort", () => reject(new Error("aborted")));
      answers.push((answer) => (answer instanceof Error ? reject(answer) : resolve(answer)));
    });
  };
  const pass = async (ms: number) => {
    t.mock.timers.tick(ms);
    await settled();
  };
  const answer = async (with_: Response | Error = new Response("jpeg")) => {
    for (const each of answers) each(with_);
    answers = [];
    await settled();
  };
  const shown = () => {
    const { bitmap, ...rest } = picture.peek();
    return { number: (bitmap as { number?: number } | undefined)?.number, ...rest };
  };
  return {
    picture,
    asked,
    pass,
    answer,
    shown,
    closed,
    start: () => refreshPicture(id, picture, { read, now: Date.now }),
  };
}

async function settled(): Promise<void> {
  for (let turn = 0; turn < 10; turn++) await setImmediate();
}

test("a picture is read at once and every ten seconds, and the one before is released", async (t) => {
  const { asked, pass, answer, shown, closed, start } = camera(t);
  t.after(start());
  await pass(0);
  await answer();
  const first = shown();
  await pass(9_999);
  const before = asked.length;
  await pass(1);
  await answer();

  assert.deepEqual(first, { number: 1, takenAt: 1_000_000, failed: false });
  assert.equal(before, 1);
  assert.equal(shown().number, 2);
  assert.deepEqual(closed, [1]);
  assert.match(asked[0] ?? "", /^\/smart-home\/devices\/garage%3Acamera%3A\d+\/image$/);
});

test("a slow answer delays the next request", async (t) => {
  const { asked, pass, answer, start } = camera(t);
  t.after(start());
  await pass(0);
  await pass(25_000);
  const during = asked.length;
  await answer();
  await pass(0);

  assert.deepEqual([during, asked.length], [1, 2]);
});

test("after a failure the previous picture stays with its age, and the next one is tried", async (t) => {
  const { pass, answer, shown, closed, start } = camera(t);
  t.after(start());
  await pass(0);
  await answer();
  await pass(10_000);
  await answer(new Error("bridge down"));
  const failed = shown();
  await pass(10_000);
  await answer();

  assert.deepEqual(failed, { number: 1, takenAt: 1_000_000, failed: true });
  assert.deepEqual(shown(), { number: 2, takenAt: 1_020_000, failed: false });
  assert.deepEqual(closed, [1]);
});

test("a tile that comes again within ten seconds reads nothing new, and one that missed its answer does", async (t) => {
  const { asked, pass, answer, start } = camera(t);
  const stop = start();
  await pass(0);
  await answer();
  stop();
  const stopAgain = start();
  await pass(5_000);
  const soon = asked.length;
  await pass(5_000);
  stopAgain(); // before its answer
  await settled();
  t.after(start());
  await pass(0);

  assert.deepEqual([soon, asked.length], [1, 3]);
});
