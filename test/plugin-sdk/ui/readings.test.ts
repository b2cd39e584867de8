import assert from "node:assert/strict";
import { test } from "node:test";
import { effect, signal, type Signal } from "@preact/signals-core";

interface Measured {
  readonly deviceId: string;
  readonly field: string;
}

/** The part of a widget's context that `followReadings` needs. */
interface Context {
  readonly read: (path: string) => Promise<Response>;
  readonly effect: (draw: () => void) => void;
  readonly every: (ms: number, run: () => void) => void;
  readonly online: Signal<boolean>;
  readonly signal: AbortSignal;
}

// Imported as a mere string: its types are those of the browser, and these tests run on Node.
// oxlint-disable-next-line typescript/no-unnecessary-type-assertion -- the type would be that of the file
const { followReadings } = (await import("../../../plugin-sdk/ui/readings.ts" as string)) as {
  followReadings: (ctx: Context, wanted: () => readonly Measured[]) => Signal<unknown>;
};

const POWER: Measured = { deviceId: "hue:plug:1", field: "power" };
const ENERGY: Measured = { deviceId: "hue:plug:1", field: "energy" };
const NONE = { state: "loading", values: [] };

/** A widget whose reads are answered by hand. */
function openWidget(...fields: Measured[]) {
  const wanted = signal<readonly Measured[]>(fields);
  const online = signal(true);
  const ended = new AbortController();
  const reads: { path: string; answer: (value: number) => void; fail: () => void }[] = [];
  let interval: { ms: number; run: () => void } | undefined;
  const shown = followReadings(
    {
      online,
      signal: ended.signal,
      read: (path) =>
        new Promise((resolve, reject) => {
          const readingsOf = (value: number) => [{ at: "2026-11-20T12:00:00.000Z", value }];
          reads.push({
            path,
            answer: (value) => resolve(Response.json({ readings: readingsOf(value) })),
            fail: () => reject(new Error("the host is away")),
          });
        }),
      effect: (draw) => void effect(draw),
      every: (ms, run) => void (interval = { ms, run }),
    },
    () => wanted.value,
  );
  assert.ok(interval);
  return { wanted, online, ended, reads, shown, interval };
}

const known = (value: number) => ({
  state: "known",
  values: [{ at: Date.parse("2026-11-20T12:00:00.000Z"), value }],
});
const settled = () => new Promise((resolve) => setImmediate(resolve));

test("the readings of each field are loading, and then known in the same order", async () => {
  const { reads, shown } = openWidget(POWER, ENERGY);

  assert.deepEqual(shown.value, [NONE, NONE]);
  assert.deepEqual(
    reads.map(({ path }) => path),
    [
      "/smart-home/devices/hue%3Aplug%3A1/history?field=power",
      "/smart-home/devices/hue%3Aplug%3A1/history?field=energy",
    ],
  );
  reads[1]?.answer(2);
  reads[0]?.answer(1);
  await settled();

  assert.deepEqual(shown.value, [known(1), known(2)]);
});

test("readings are loaded again every five minutes, and stay when that fails", async () => {
  const { reads, shown, interval } = openWidget(POWER);
  reads[0]?.answer(1);
  await settled();

  assert.equal(interval.ms, 300_000);
  interval.run();
  assert.deepEqual(shown.value, [known(1)]);
  reads[1]?.fail();
  await settled();

  assert.deepEqual(shown.value, [{ ...known(1), state: "failed" }]);
});

test("readings that never came have failed without values", async () => {
  const { reads, shown } = openWidget(POWER);
  reads[0]?.fail();
  await settled();

  assert.deepEqual(shown.value, [{ state: "failed", values: [] }]);
});

test("other fields are loading at once, and a late answer about the former ones is ignored", async () => {
  const { wanted, reads, shown } = openWidget(POWER);
  wanted.value = [ENERGY];

  assert.deepEqual(shown.value, [NONE]);
  reads[1]?.answer(2);
  await settled();
  reads[0]?.answer(1);
  await settled();

  assert.deepEqual(shown.value, [known(2)]);
});

test("equal fields are not loaded again", () => {
  const { wanted, reads } = openWidget(POWER);
  wanted.value = [{ ...POWER }];

  assert.equal(reads.length, 1);
});

test("readings are loaded again after a reconnect, and not when the connection is lost", () => {
  const { online, reads } = openWidget(POWER);
  online.value = false;
  assert.equal(reads.length, 1);

  online.value = true;

  assert.equal(reads.length, 2);
});

test("an answer after the unmount changes nothing", async () => {
  const { ended, reads, shown } = openWidget(POWER);
  ended.abort();
  reads[0]?.answer(1);
  await settled();

  assert.deepEqual(shown.value, [NONE]);
});
