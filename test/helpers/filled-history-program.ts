// Fills the file in the first argument with a report a minute of each of some sensors, over the days in the second
// argument before the instant in the third.
import { Recorder } from "../../plugins/recorder/recorder.ts";
import { SqliteStorage } from "../../plugins/recorder/sqlite.ts";
import { HOUR_MS } from "../../plugins/recorder/statistics.ts";
import { NOTHING_NEW } from "../../plugins/recorder/storage.ts";
import { maintainAll } from "./recorder-history.ts";

const SENSORS = 40;
const MINUTE_MS = 60_000;

const [file = "", days = "1", until = "0"] = process.argv.slice(2);
const to = Math.floor(Number(until) / HOUR_MS) * HOUR_MS;
const clock = { now: to - Number(days) * 24 * HOUR_MS };
const retention = { rawDays: 3_650, logbookDays: 3_650, maxBytes: 2 ** 30, exceptions: {} };
const notices = {
  warn: (sentence: string) => void process.stderr.write(`${sentence}\n`),
  degraded: () => undefined,
};
const recorder = new Recorder(
  () => SqliteStorage.open(file),
  retention,
  notices,
  () => clock.now,
);
await recorder.open();
const ids = Array.from({ length: SENSORS }, (_, index) => index + 1);
const series = ids.map((id) => ({
  id,
  device: `storm:sensor:${id}`,
  field: "temperature",
  unit: "°C",
  isCounter: false,
}));
await recorder.record({ ...NOTHING_NEW, series });
for (; clock.now < to; clock.now += HOUR_MS) {
  for (let minute = 0; minute < 60; minute++) {
    const at = ids.map(() => clock.now + minute * MINUTE_MS);
    const value = ids.map((id) => id + Math.round(100 * Math.random()) / 10);
    await recorder.record({ ...NOTHING_NEW, points: { series: ids, at, value } });
  }
  await maintainAll(recorder, clock.now + HOUR_MS + 2 * MINUTE_MS);
}
await recorder.close();
