import assert from "node:assert/strict";
import { mkdir, readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import type { DeviceDescription } from "@mantel/plugin-sdk/device";
import { readingOf, SensorHistory } from "../../../host/devices/sensor-history.ts";
import { emptyFolder } from "../../helpers/folder.ts";
import { until } from "../../helpers/until.ts";
import { createBridge, openDevices } from "./open-devices.ts";

const MINUTE = 60_000;
const ALL = { from: 0, to: Number.MAX_SAFE_INTEGER };
const CLIMATE: DeviceDescription = {
  nativeId: "climate",
  kind: "sensor",
  name: "Climate",
  capabilities: {
    temperature: { type: "number", unit: "°C", readOnly: true },
    value: { type: "number", unit: "°C" },
    contact: { type: "boolean", readOnly: true },
  },
  state: { temperature: 20, value: 21, contact: false },
};

/** A sensor whose history is kept, and a clock that the test moves. */
async function openSensor(t: TestContext) {
  t.mock.timers.enable({ apis: ["setInterval", "Date"], now: Date.parse("2026-11-20T00:00:00Z") });
  const dataFolder = await emptyFolder(t);
  const { devices, bus, log, lines } = await openDevices(
    t,
    [createBridge("b", "demo")],
    dataFolder,
  );
  const open = () => SensorHistory.open({ dataFolder, bus, log });
  const history = await open();
  await devices.publish("b", [CLIMATE]);
  const measure = (temperature: number) =>
    void devices.update("b", [{ nativeId: "climate", state: { temperature } }]);
  const valuesOf = (of: SensorHistory, field = "temperature") =>
    of.of("demo:sensor:1", field, ALL).map(({ value }) => value);
  return {
    dataFolder,
    lines,
    devices,
    open,
    history,
    measure,
    valuesOf,
    tick: (ms: number) => t.mock.timers.tick(ms),
  };
}

test("the last reading per five minutes is kept, for measured numbers only", async (t) => {
  const { history, measure, valuesOf, tick } = await openSensor(t);
  measure(20.5);
  tick(5 * MINUTE);
  measure(21);
  tick(MINUTE);
  measure(21.5);

  assert.deepEqual(valuesOf(history), [20.5, 21.5]);
  assert.deepEqual([valuesOf(history, "value"), valuesOf(history, "contact")], [[], []]);
  const at = Date.parse("2026-11-20T00:06:00Z");
  const window = history.of("demo:sensor:1", "temperature", { from: at, to: at + 1 });
  assert.deepEqual(window, [{ at: "2026-11-20T00:06:00.000Z", value: 21.5 }]);
  await history.close();
});

test("readings of parts and extras are kept under the name of the part or extra", async (t) => {
  const { devices, history, valuesOf } = await openSensor(t);
  const power = { type: "number", unit: "W", readOnly: true } as const;
  const part = { kind: "light", name: "Light", capabilities: { power }, state: { power: 4 } };
  await devices.publish("b", [
    {
      ...CLIMATE,
      parts: [{ ...part, id: "light" }],
      extra: {
        capabilities: {
          linkQuality: { type: "number", readOnly: true, group: "diagnostic" },
          delay: { type: "number", group: "configuration" },
        },
        state: { linkQuality: 80, delay: 3 },
      },
    },
  ]);
  await devices.update("b", [{ nativeId: "climate", extra: { linkQuality: 90 } }]);

  const kept = ["temperature", "light.power", "extra.linkQuality", "extra.delay", "power"];
  assert.deepEqual(
    kept.map((field) => valuesOf(history, field)),
    [[20], [4], [90], [], []],
  );
  const device = devices.get("demo:sensor:1");
  assert.deepEqual(
    ["light.power", ".temperature", "light.light.power", "lamp.power", "extra.delay", ""].map(
      (field) => readingOf(device, field)?.unit,
    ),
    ["W", undefined, undefined, undefined, undefined, undefined],
  );
  await history.close();
});

test("only the last day of readings is kept, and it survives a restart", async (t) => {
  const { history, open, measure, valuesOf, tick } = await openSensor(t);
  for (let step = 0; step < 1_000; step++) {
    measure(step / 10);
    tick(5 * MINUTE);
  }
  await history.close();

  const later = await open();

  assert.equal(valuesOf(later).length, 288);
  assert.deepEqual(valuesOf(later), valuesOf(history).slice(-288));
  await later.close();
});

test("readings are written every half hour, and a stop without readings writes nothing", async (t) => {
  const { dataFolder, history, measure, tick } = await openSensor(t);
  for (let second = 0; second < 29 * 60; second++) {
    measure(second);
    tick(1_000);
  }
  const before = (await readdir(dataFolder)).filter((name) => name.startsWith("readings"));
  await history.close();
  const written = await readFile(join(dataFolder, "readings.json"), "utf8");
  await history.close();

  assert.deepEqual(before, []);
  assert.match(written, /"demo:sensor:1 temperature": "1795133099=299 /);
  assert.equal(await readFile(join(dataFolder, "readings.json"), "utf8"), written);
});

test("readings that cannot be stored stay in memory, are logged and stored later", async (t) => {
  const { dataFolder, lines, history, measure, valuesOf, open } = await openSensor(t);
  measure(-20.5);
  await rm(dataFolder, { recursive: true });

  await history.close();
  const logged = lines.map(({ level, sentence, fields }) => [level, sentence, fields["file"]]);
  await mkdir(dataFolder);
  await history.close();

  assert.deepEqual(logged, [["warn", "could not store the readings", "readings.json"]]);
  const later = await open();
  assert.deepEqual([valuesOf(history), valuesOf(later)], [[-20.5], [-20.5]]);
  await later.close();
});

test("numbers of any size are stored and read again", async (t) => {
  const { history, measure, valuesOf, open, tick } = await openSensor(t);
  const values = [0, -0.5, 1e21, 1.5e-7, -3e300];
  for (const value of values) {
    tick(5 * MINUTE);
    measure(value);
  }
  await history.close();

  const later = await open();

  assert.deepEqual(valuesOf(later).slice(1), values);
  await later.close();
});

test("at most 2000 fields have a history, and those that have one keep it", async (t) => {
  const { history, devices, measure, valuesOf } = await openSensor(t);
  const meters = Array.from({ length: 2_000 }, (_, at) => ({
    nativeId: `${at}`,
    kind: "plug" as const,
    name: "Meter",
    capabilities: { power: { type: "number" as const, unit: "W" as const, readOnly: true } },
    state: { power: at },
  }));

  await devices.publish("b", [CLIMATE, ...meters]);
  measure(22);

  const countOf = (number: number) => history.of(`demo:plug:${number}`, "power", ALL).length;
  assert.deepEqual([countOf(1), countOf(1_999), countOf(2_000)], [1, 1, 0]);
  assert.deepEqual(valuesOf(history), [22]);
  await history.close();
});

test("a window of readings includes its begin and not its end", async (t) => {
  const { history, measure, tick } = await openSensor(t);
  tick(5 * MINUTE);
  measure(21);
  const at = Date.parse("2026-11-20T00:05:00Z");
  const count = (from: number, to: number) =>
    history.of("demo:sensor:1", "temperature", { from, to }).length;

  assert.deepEqual([count(at, at + 1), count(at - 1, at), count(at + 1, at + 2)], [1, 0, 0]);
  assert.deepEqual(history.of("demo:sensor:9", "temperature", ALL), []);
  await history.close();
});

test("a reading is on the disk after half an hour, with its time", async (t) => {
  const { dataFolder, history, measure, open, tick } = await openSensor(t);
  tick(29 * MINUTE);
  measure(21);
  tick(MINUTE);
  await until(async () => (await readdir(dataFolder)).includes("readings.json"));

  const later = await open();

  const readings = (of: SensorHistory) => of.of("demo:sensor:1", "temperature", ALL);
  assert.deepEqual(readings(later), readings(history));
  assert.equal(readings(later).at(-1)?.at, "2026-11-20T00:29:00.000Z");
  await later.close();
  await history.close();
});
