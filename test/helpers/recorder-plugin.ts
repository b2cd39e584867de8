import type { TestContext } from "node:test";
import type { HistoryReadings, Logbook } from "@mantel/plugin-sdk";
import { startPlugin } from "@mantel/plugin-sdk/testing";
import { recorderWith } from "../../plugins/recorder/plugin.ts";
import { Recorder } from "../../plugins/recorder/recorder.ts";
import { logbookRoute, readingsRoute } from "../../plugins/recorder/routes.ts";
import { SqliteStorage } from "../../plugins/recorder/sqlite.ts";
import { emptyFolder } from "./folder.ts";

export const LAMP = "demo:light:1";
export const SENSOR = "demo:sensor:2";
export const ANNA = { kind: "person", id: "t1", name: "Anna" } as const;
export const CONFIG = { rawDays: 10, logbookDays: 90, maxMiB: 64 };
const plugin = recorderWith(
  ({ file, retention }, notices) =>
    new Recorder(() => SqliteStorage.open(file), retention, notices),
);
const DEVICES = [
  {
    id: LAMP,
    name: "Lamp",
    room: "Hall",
    capabilities: {
      on: { type: "boolean" },
      brightness: { type: "number", min: 0, max: 100, unit: "%" },
      power: { type: "number", unit: "W", readOnly: true },
    },
    state: { on: false, brightness: 50, power: 0 },
  },
  {
    id: SENSOR,
    name: "Sensor",
    room: "Kitchen",
    capabilities: { temperature: { type: "number", unit: "°C", readOnly: true } },
    state: { temperature: 20 },
  },
] as const;

/** The plugin with a lamp and a sensor, which records into a folder. */
export async function startRecorder(t: TestContext, config: object = {}, folder?: string) {
  countMilliseconds(t);
  const history = folder ?? (await emptyFolder(t));
  const running = await startPlugin(plugin, {
    config: { ...CONFIG, ...config },
    folders: { history },
    home: { devices: DEVICES, scenes: [{ id: "host:scene:movie", name: "Movie" }] },
  });
  t.after(() => running.stop().catch(() => undefined));
  const read = async (query: {
    device: string;
    field: string;
    points?: string;
    from?: string;
    to?: string;
  }) => (await running.request(readingsRoute, { query })).json as HistoryReadings;
  const logbook = async (query: object = {}) =>
    (await running.request(logbookRoute, { query })).json as Logbook;
  return { ...running, running, history, read, logbook };
}

/**
 * Lets the clock count its readings: of two reports in one millisecond, a curve would have only the second. A test that
 * starts the plugin again keeps the clock, because Node restores what is mocked twice to the first mock.
 */
function countMilliseconds(t: TestContext): void {
  if (Reflect.get(Date.now, "mock") !== undefined) return;
  let now = Date.now();
  t.mock.method(Date, "now", () => ++now);
}
