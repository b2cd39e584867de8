import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { setImmediate } from "node:timers/promises";
import { followLive, type Show } from "../../../../host/dashboard/live/live-picture.ts";

const FORMS = ["video", "frames"] as const;

/** Follows a picture whose forms end as the test says: `fails` before its first picture, `ends` behind it. */
function follow(t: TestContext, outcomes: readonly ("fails" | "ends")[]) {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const ended = new AbortController();
  const shown: string[] = [];
  const left = [...outcomes];
  const show: Show = async (form, { begun }) => {
    shown.push(form);
    const outcome = left.shift();
    if (outcome === undefined) {
      begun();
      return new Promise(() => undefined);
    }
    if (outcome === "ends") begun();
    throw new Error("it has ended");
  };
  const done = followLive(FORMS, {
    signal: ended.signal,
    show,
    playing: (is) => shown.push(is ? "plays" : "over"),
  });
  const pass = async (ms: number): Promise<void> => {
    t.mock.timers.tick(ms);
    await settled();
  };
  return { shown, pass, end: () => ended.abort(), done };
}

async function settled(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await setImmediate();
}

test("the first form that works is shown", async (t) => {
  const { shown } = follow(t, ["fails"]);
  await settled();

  assert.deepEqual(shown, ["video", "frames", "plays"]);
});

test("a picture that ends begins again with the first form", async (t) => {
  const { shown, pass } = follow(t, ["ends"]);
  await settled();
  assert.deepEqual(shown, ["video", "plays", "over"]);

  await pass(1_999);
  assert.equal(shown.length, 3);
  await pass(1);
  assert.deepEqual(shown.slice(3), ["video", "plays"]);
});

test("attempts become rarer while none works, and never end", async (t) => {
  const { shown, pass } = follow(
    t,
    Array.from({ length: 100 }, () => "fails" as const),
  );
  await settled();
  const counts = [];
  for (const ms of [2_000, 5_000, 15_000, 15_000]) {
    await pass(ms - 1);
    counts.push(shown.length);
    await pass(1);
  }

  assert.deepEqual(counts, [2, 4, 6, 8]);
  assert.equal(shown.length, 10);
});

test("nothing is tried when it is no longer shown", async (t) => {
  const { shown, pass, end, done } = follow(t, ["fails", "fails"]);
  await settled();
  end();
  await done;
  await pass(60_000);

  assert.deepEqual(shown, ["video", "frames"]);
});

test("a picture that comes behind the end is not told", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const ended = new AbortController();
  const told: boolean[] = [];
  let begin: () => void = () => undefined;
  const show: Show = (_, { begun }) => {
    begin = begun;
    return new Promise(() => undefined);
  };
  void followLive(FORMS, { signal: ended.signal, show, playing: (is) => told.push(is) });

  ended.abort();
  begin();

  assert.deepEqual(told, []);
});
