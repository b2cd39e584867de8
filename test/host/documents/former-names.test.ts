import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { test } from "node:test";
import { withoutFormerName, withoutFormerNames } from "../../../host/documents/former-names.ts";
import { Bus } from "../../../host/events/bus.ts";
import { LayoutStore } from "../../../host/layout/store.ts";
import { HostScenes } from "../../../host/scenes/host-scenes.ts";
import { collectedLog } from "../../helpers/collected-log.ts";
import { emptyFolder } from "../../helpers/folder.ts";
import { recordedLog } from "../devices/open-devices.ts";

for (const [id, former, present] of [
  ["demo:cover:1", { moving: "stopped" }, { stop: true }],
  ["demo:cover:1", { moving: "opening", tilt: 5 }, { open: true, tilt: 5 }],
  ["zigbee:cover:1", { state: "CLOSE" }, { close: true }],
  ["mqtt:cover:1", { stop: "press" }, { stop: true }],
  ["demo:media-player:1", { skip: "previous", volume: 3 }, { previous: true, volume: 3 }],
  ["ha:vacuum:1", { action: "dock", suction: "max" }, { dock: true, fanSpeed: "max" }],
  ["mqtt:thermostat:1", { swingMode: "on" }, { swing: "on" }],
  ["ha:button:1", { press: "press" }, { press: true }],
] as const) {
  test(`a stored command ${JSON.stringify(former)} becomes ${JSON.stringify(present)}`, () => {
    assert.deepEqual(withoutFormerNames(id, former).command, present);
    assert.deepEqual(withoutFormerNames(id, present), { command: present, renames: [] });
  });
}

for (const [id, command] of [
  ["demo:binary-sensor:1", { moving: true }],
  ["demo:cover:1", { moving: "sideways" }],
  ["demo:lamp:1", { moving: "stopped" }],
  ["nonsense", { moving: "stopped" }],
  ["demo:cover:1", null as never],
] as const) {
  test(`a stored command ${JSON.stringify(command)} to ${id} stays`, () => {
    assert.deepEqual(withoutFormerNames(id, command), { command, renames: [] });
  });
}

test("a shown field has the present name on the kind that had the former one", () => {
  assert.equal(withoutFormerName("demo:cover:1", "moving"), "action");
  assert.equal(withoutFormerName("demo:thermostat:1", "heating"), "action");
  assert.equal(withoutFormerName("demo:binary-sensor:1", "moving"), "moving");
  assert.equal(withoutFormerName("demo:sensor:1", "constructor"), "constructor");
});

test("scenes with former names are stored with the present ones, and each name is logged", async (t) => {
  const folder = await emptyFolder(t);
  const path = join(folder, "scenes.json");
  const scene = { name: "Night", targets: { "demo:cover:1": { moving: "closing" } } };
  const other = { name: "Day", targets: { "demo:light:1": { on: true } } };
  const scenes = { "host:scene:night": scene, "host:scene:day": other };
  await writeFile(path, JSON.stringify({ version: 1, scenes }));
  const { log, lines } = recordedLog();

  const opened = await HostScenes.open(folder, log);

  const present = {
    "host:scene:night": { ...scene, targets: { "demo:cover:1": { close: true } } },
  };
  assert.deepEqual(Object.fromEntries(opened.all), { ...scenes, ...present });
  assert.deepEqual(JSON.parse(await readFile(path, "utf8")).scenes, { ...scenes, ...present });
  assert.deepEqual(lines, [
    {
      level: "info",
      sentence: "renamed a field in a document",
      fields: { document: "host:scene:night", device: "demo:cover:1", from: "moving", to: "close" },
    },
  ]);
});

test("a layout with former names becomes a new revision with the present ones", async (t) => {
  const dataFolder = await emptyFolder(t);
  const shippedFolder = resolve(import.meta.dirname, "../../../layouts");
  const open = async () => {
    const log = collectedLog();
    const layout = await LayoutStore.open({ dataFolder, shippedFolder, log, bus: new Bus() });
    return { layout, log };
  };
  const { layout } = await open();
  const [page] = layout.current.pages;
  assert.ok(page);
  const tile = (id: string, config: object) => ({
    id,
    module: "device-widget",
    config: { ...config },
    geometry: { lg: { x: 0, y: 0, w: 2, h: 2 } },
  });
  const widgets = [
    tile("blind", { device: "demo:cover:1", field: "moving", label: "Blind" }),
    tile("heat", { devices: ["demo:thermostat:1"], field: "heating" }),
    tile("door", { device: "demo:binary-sensor:1", field: "moving" }),
    tile("none", { field: "moving" }),
  ];
  await layout.replace({ ...layout.current, pages: [{ ...page, widgets }], displays: [] });

  const { layout: next } = await open();

  assert.deepEqual(
    next.current.pages[0]?.widgets.map(({ config }) => config),
    [
      { device: "demo:cover:1", field: "action", label: "Blind" },
      { devices: ["demo:thermostat:1"], field: "action" },
      { device: "demo:binary-sensor:1", field: "moving" },
      { field: "moving" },
    ],
  );
  assert.equal(next.current.revision, 3);
  assert.equal((await open()).layout.current.revision, 3);
});
