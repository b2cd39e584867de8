// npm run bench recorder [-- seconds [states]]: the history of 1,000 devices that report 500 states a second in a running
// host: CPU and written bytes of the plugin's process; and the time of a year of one of 100 fields, drawn from a file.
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { Recorder } from "../../plugins/recorder/recorder.ts";
import { SqliteStorage } from "../../plugins/recorder/sqlite.ts";
import { HOUR_MS } from "../../plugins/recorder/statistics.ts";
import { NOTHING_NEW } from "../../plugins/recorder/storage.ts";
import type { ClosedHour } from "../../plugins/recorder/storage.ts";
import { findPluginProcesses, openHome, serveHost } from "./bench-home.ts";
import { rounded, summarise } from "./shared/figures.ts";

const DEVICES = 1_000;
const TICKS_A_SECOND = 10;
const SETTLE_MS = 10_000;
const HOURS = 365 * 24;
const FIELDS = 100;
const TICKS_PER_CPU_SECOND = 100;

const [seconds = 60, states = 500] = process.argv.slice(2).map(Number);
const BRIDGE = `
import { definePlugin } from "@mantel/plugin-sdk";
const capabilities = { temperature: { type: "number", unit: "°C", readOnly: true } } as const;
export default definePlugin({
  async start({ devices, onDispose }) {
    await devices.publish(Array.from({ length: ${DEVICES} }, (_, at) => ({
      nativeId: String(at), kind: "sensor", name: "Sensor " + at, capabilities, state: { temperature: 20 },
    })));
    let next = 0;
    const timer = setInterval(() => {
      for (let count = 0; count < ${states / TICKS_A_SECOND}; count++) {
        next++;
        const temperature = Math.round(200 + 50 * Math.sin(next / 997) + (next % 7)) / 10;
        devices.update({ nativeId: String(next % ${DEVICES}), state: { temperature } });
      }
    }, ${1_000 / TICKS_A_SECOND});
    onDispose(() => clearInterval(timer));
  },
});
`;

const recording = await record();
const yearMs = await year();
console.log(
  JSON.stringify({ bench: "recorder", devices: DEVICES, states, seconds, recording, yearMs }),
);

/** The load of the plugin's process while devices report. */
async function record(): Promise<object> {
  const home = await openHome(["recorder"]);
  const bridge = { kind: "bench", commandsPerSecond: 10 };
  const mantel = { id: "bench", kinds: ["bridge"], server: "index.ts", bridge };
  await home.write("bench/package.json", JSON.stringify({ name: "bench", type: "module", mantel }));
  await home.write("bench/index.ts", BRIDGE);
  const served = await serveHost(home);
  await delay(SETTLE_MS);
  const [pid = 0] = await findPluginProcesses(served.pid, "recorder");
  const before = await useOf(pid);
  await delay(seconds * 1_000);
  const after = await useOf(pid);
  await served.stop();
  const storage = SqliteStorage.open(join(home.data, "history/history.sqlite"));
  const { series } = storage.load().open;
  storage.end();
  await home.remove();
  return {
    reports: series.length,
    cpuPercent: rounded((100 * (after.cpuSeconds - before.cpuSeconds)) / seconds),
    writtenMiBAnHour: rounded(((after.bytes - before.bytes) / seconds) * (3_600 / 2 ** 20)),
    memoryMiB: rounded(after.memoryKiB / 1_024),
  };
}

async function useOf(pid: number) {
  const [stat, io, memory] = await Promise.all(
    ["stat", "io", "smaps_rollup"].map((file) => readFile(`/proc/${pid}/${file}`, "utf8")),
  );
  const fields =
    stat
      ?.slice(stat.lastIndexOf(")") + 2)
      .split(" ")
      .map(Number) ?? [];
  return {
    cpuSeconds: ((fields[11] ?? 0) + (fields[12] ?? 0)) / TICKS_PER_CPU_SECOND,
    bytes: Number(/^write_bytes: (\d+)/m.exec(io ?? "")?.[1]),
    memoryKiB: Number(/^Pss: +(\d+)/m.exec(memory ?? "")?.[1]),
  };
}

/** The time of 500 points of a year, from a file that was just opened and then again. */
async function year(): Promise<object> {
  const home = await openHome();
  const file = join(home.data, "history.sqlite");
  const first = Math.floor(Date.parse("2025-01-01T00:00:00Z") / HOUR_MS);
  const storage = SqliteStorage.open(file);
  const series = Array.from({ length: FIELDS }, (_, at) => ({
    id: at + 1,
    device: `bench:sensor:${at}`,
    field: "temperature",
    unit: "°C",
    isCounter: false,
  }));
  storage.append({ ...NOTHING_NEW, series });
  for (let hour = first; hour < first + HOURS; hour++)
    storage.close(
      hour,
      series.map(({ id }) => closedHour(id, hour)),
    );
  storage.end();

  const retention = { rawDays: 10, logbookDays: 90, maxBytes: 2 ** 40, exceptions: {} };
  const notices = { warn: () => undefined, degraded: () => undefined };
  const times: number[] = [];
  for (let round = 0; round < 20; round++) {
    const recorder = new Recorder(() => SqliteStorage.open(file), retention, notices);
    await recorder.open();
    const startedAt = performance.now();
    const span = { from: first * HOUR_MS, to: (first + HOURS) * HOUR_MS };
    const { points } = await recorder.curve({ series: 1 + round, ...span, points: 500 });
    times.push(performance.now() - startedAt);
    if (points.length !== 500) throw new Error(`the year has ${points.length} points`);
    await recorder.close();
  }
  await rm(file);
  await home.remove();
  return summarise(times);
}

function closedHour(series: number, hour: number): ClosedHour {
  const [from, to] = [hour * HOUR_MS, (hour + 1) * HOUR_MS];
  const mean = 20 + 10 * Math.sin(hour / 1_000);
  const stat = { from, to, min: mean - 1, max: mean + 1, mean, sum: 0, knownMs: HOUR_MS };
  const curve = { at: [from], value: [mean] };
  return { series, hour, curve, five: [], stat, carry: { value: mean, known: mean }, isLast: true };
}
