// Records counted values into the file in the first argument until it is killed, and prints the count of those that are
// stored. Hours pass quickly, so that kills also hit the closing of hours.
import { Recorder } from "../../plugins/recorder/recorder.ts";
import { SqliteStorage } from "../../plugins/recorder/sqlite.ts";
import { NOTHING_NEW } from "../../plugins/recorder/storage.ts";
import { maintainAll } from "./recorder-history.ts";

const [file = ""] = process.argv.slice(2);
const START = Date.parse("2026-11-01T00:00:00Z");
const STEP_MS = 60_000;
const AT_ONCE = 20;

const clock = { now: START };
const retention = { rawDays: 10, logbookDays: 90, maxBytes: 2 ** 30, exceptions: {} };
const notices = { warn: () => undefined, degraded: () => undefined };
const recorder = new Recorder(
  () => SqliteStorage.open(file),
  retention,
  notices,
  () => clock.now,
);
const { series } = await recorder.open();
const row = { id: 1, device: "demo:sensor:1", field: "temperature", unit: null, isCounter: false };
if (series.length === 0) await recorder.record({ ...NOTHING_NEW, series: [row] });
let count = Math.max(0, series[0]?.value ?? 0) || 0;
process.stdout.write("begin\n");
for (;;) {
  const counts = Array.from({ length: AT_ONCE }, (_, index) => count + 1 + index);
  const at = counts.map((each) => START + each * STEP_MS);
  const points = { series: counts.map(() => 1), at, value: counts };
  await recorder.record({ ...NOTHING_NEW, points });
  count += AT_ONCE;
  process.stdout.write(`${count}\n`);
  clock.now = START + count * STEP_MS;
  await maintainAll(recorder, clock.now);
}
