import { join } from "node:path";
import type { TestContext } from "node:test";
import type { Retention } from "../../plugins/recorder/history.ts";
import { Recorder } from "../../plugins/recorder/recorder.ts";
import { SqliteStorage } from "../../plugins/recorder/sqlite.ts";
import { HOUR_MS } from "../../plugins/recorder/statistics.ts";
import {
  type Batch,
  type NewEntry,
  NOTHING_NEW,
  type Storage,
} from "../../plugins/recorder/storage.ts";
import { emptyFolder } from "./folder.ts";

export const START = Date.parse("2026-11-01T00:00:00Z");
export const DAY_MS = 24 * HOUR_MS;
export const MINUTE_MS = 60_000;
const RETENTION: Retention = {
  rawDays: 10,
  logbookDays: 90,
  maxBytes: 2 ** 30,
  exceptions: {},
};
export const LAMP = { id: "demo:light:1", name: "Lamp", room: "Hall", kind: "light" };
export const ROW = { id: 1, device: LAMP.id, field: "power", unit: "W", isCounter: false };

export const entry = (at: number, change: Partial<NewEntry> = {}): NewEntry => ({
  at,
  kind: "state",
  device: LAMP.id,
  what: "on",
  from: "false",
  to: "true",
  cause: { kind: "device", id: LAMP.id, name: "Lamp" },
  ...change,
});
export const batch = (change: Partial<Batch> = {}): Batch => ({ ...NOTHING_NEW, ...change });
/** Values of series 1. */
export const values = (...reports: readonly (readonly [at: number, value: number])[]) =>
  batch({
    points: {
      series: reports.map(() => 1),
      at: reports.map(([at]) => at),
      value: reports.map(([, value]) => value),
    },
  });

interface Options {
  readonly retention?: Partial<Retention>;
  readonly wrap?: (storage: Storage) => Storage;
}

/** A history in a file, which can be opened again, and a clock. */
export async function openHistory(
  t: TestContext,
  { retention, wrap = (storage) => storage }: Options = {},
) {
  const folder = await emptyFolder(t);
  const file = join(folder, "history.sqlite");
  const clock = { now: START };
  const told: (string | undefined)[] = [];
  const notices = {
    warn: (sentence: string) => void told.push(sentence),
    degraded: (reason: string | undefined) => void told.push(reason),
  };
  const start = (path = file) =>
    new Recorder(
      () => wrap(SqliteStorage.open(path, 0)),
      { ...RETENTION, ...retention },
      notices,
      () => clock.now,
    );
  const recorder = start();
  t.after(() => recorder.close());
  await recorder.open();
  await recorder.record(batch({ devices: [LAMP], series: [ROW] }));
  return { recorder, start, file, folder, clock, told };
}

/** Does all regular work, however many slices it takes. */
export async function maintainAll(history: Pick<Recorder, "maintain">, now: number): Promise<void> {
  while (await history.maintain(now));
}

/** A value every minute for some days: the number of the hour. */
export async function filled(
  recorder: Recorder,
  clock: { now: number },
  days: number,
): Promise<void> {
  for (let hour = 0; hour < 24 * days; hour++) {
    const from = START + hour * HOUR_MS;
    const reports = Array.from(
      { length: 60 },
      (_, index) => [from + index * MINUTE_MS, hour + index / 100] as const,
    );
    await recorder.record(values(...reports));
    clock.now = from + HOUR_MS + 2 * MINUTE_MS;
    await maintainAll(recorder, clock.now);
  }
}
