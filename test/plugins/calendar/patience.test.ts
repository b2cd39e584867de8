import assert from "node:assert/strict";
import { test } from "node:test";
import { type Clocks, inTime, LATE } from "../../../plugins/calendar/patience.ts";

const PATIENCE = { cpuMs: 1_000, wallMs: 20_000 };

/** Clocks on which every step of waiting takes a second, of which the process gets a share of the processor. */
function clocksWith({
  share,
  onStep = () => {},
}: {
  share: number;
  onStep?: (step: number) => void;
}) {
  const passed = { cpu: 0, wall: 0 };
  const clocks: Clocks = {
    cpu: () => passed.cpu,
    wall: () => passed.wall,
    async sleep() {
      passed.wall += 1_000;
      passed.cpu += 1_000 * share;
      onStep(passed.wall / 1_000);
    },
  };
  return clocks;
}

/** A work that ends at a step of the clocks. */
function workUntil(step: number, share: number) {
  let end: (result: string) => void;
  const work = new Promise<string>((resolve) => (end = resolve));
  const onStep = (now: number) => void (now >= step && end("done"));
  return inTime([work], PATIENCE, clocksWith({ share, onStep }));
}

test("a result that takes long because the processor is busy is not late", async () => {
  assert.deepEqual(await workUntil(13, 0.05), ["done"]);
});

test("a result that takes a second of processor time is late", async () => {
  assert.deepEqual(await workUntil(5, 1), [LATE]);
});

test("a result is late after the time in which somebody waits for it, whatever the processor does", async () => {
  assert.deepEqual(await workUntil(60, 0), [LATE]);
});

test("a late result does not hold up the others", async () => {
  const never = new Promise<string>(() => {});

  const results = await inTime(
    [never, Promise.resolve("done")],
    PATIENCE,
    clocksWith({ share: 1 }),
  );

  assert.deepEqual(results, [LATE, "done"]);
});
