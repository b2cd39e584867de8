import assert from "node:assert/strict";
import { test } from "node:test";
import type { LastReload, ModuleView } from "../../../host/api/module.ts";
import type { ConfigStore } from "../../../host/config/store.ts";
import { Bus } from "../../../host/events/bus.ts";
import { ModuleEvents } from "../../../host/modules/events.ts";
import type { Module } from "../../../host/modules/lifecycle/module.ts";
import type { BridgeTable } from "../../../host/modules/module-bridge.ts";
import { collectedLog } from "../../helpers/collected-log.ts";

function openEvents() {
  const bus = new Bus();
  const topics: string[] = [];
  const data: object[] = [];
  bus.on((event) => {
    topics.push(event.topic);
    data.push(event.data);
  });
  const log = collectedLog();
  const changed: string[] = [];
  const registry = (name: string) =>
    ({ bridgeChanged: (id: string) => changed.push(`${name} of ${id}`) }) as never;
  const levels: (() => unknown)[] = [];
  const modules: Record<string, object> = {};
  const events = new ModuleEvents({
    bus,
    log: {
      ...log,
      with: (fields, level) => {
        if (level) levels.push(level);
        return log.with(fields);
      },
    },
    config: { current: { modules } } as unknown as ConfigStore,
    bridges: { find: (id: string) => (id === "hue" ? {} : undefined) } as unknown as BridgeTable,
    devices: registry("devices"),
    scenes: registry("scenes"),
  });
  return { events, topics, data, log, changed, levels, modules };
}

const module = (view: Partial<ModuleView> = {}, id = "lamp") =>
  ({ id, view: { id, generation: 2, lastReload: null, widget: null, ...view } }) as Module;
const reload = (result: LastReload["result"]): LastReload => ({
  at: "2026-01-01T00:00:00Z",
  trigger: "file",
  result,
  durationMs: 5,
  downtimeMs: 1,
});

test("each change of a module is an event with its view", () => {
  const { events, topics, data, changed, log } = openEvents();
  const lamp = module();

  events.changed(lamp);

  assert.deepEqual([topics, data], [["module.state"], [{ module: lamp.view }]]);
  assert.deepEqual([changed, log.records], [[], []]);
});

test("a change of a bridge reaches its devices and scenes", () => {
  const { events, changed } = openEvents();

  events.changed(module({}, "hue"));

  assert.deepEqual(changed, ["devices of hue", "scenes of hue"]);
});

test("a successful reload is logged once, and a failed one by the module itself", () => {
  const { events, log } = openEvents();
  const [first, failed, second] = [reload("reloaded"), reload("failed"), reload("reloaded")];

  for (const lastReload of [first, first, failed, second]) events.changed(module({ lastReload }));

  const fields = { module: "lamp", generation: 2, durationMs: 5, downtimeMs: 1 };
  const record = { level: "info", sentence: "the module was reloaded", fields };
  assert.deepEqual(log.records, [record, record]);
});

test("a widget is updated when its code changes, and not when it appears", () => {
  const { events, topics, data } = openEvents();
  const widget = (hash: string) => ({
    widget: { hash, url: `/${hash}.js`, runsIn: "frame" as const, shipped: false, needs: {} },
  });

  for (const hash of ["one", "one", "two"]) events.changed(module(widget(hash)));

  const updates = data.filter((_each, index) => topics[index] === "widget.updated");
  assert.deepEqual(updates, [{ module: "lamp", ...widget("two").widget }]);
});

test("a removed module is an event, and its widget is a first one when it returns", () => {
  const { events, topics, data, log } = openEvents();
  const needs = {};
  const lastReload = reload("reloaded");
  const shown = { url: "", runsIn: "frame" as const, shipped: false, needs };
  events.changed(module({ widget: { hash: "one", ...shown }, lastReload }));

  events.removed(module());
  assert.deepEqual([topics.at(-1), data.at(-1)], ["module.removed", { id: "lamp" }]);
  events.changed(module({ widget: { hash: "two", ...shown }, lastReload }));

  assert.ok(!topics.includes("widget.updated"));
  assert.equal(log.records.length, 2);
});

test("a module's log names it, has the level of its settings, and is published", () => {
  const { events, topics, data, log, levels, modules } = openEvents();

  const own = events.logFor("lamp");
  own.record({ level: "info", sentence: "it works" });

  assert.deepEqual(log.records, [
    { level: "info", sentence: "it works", fields: { module: "lamp" } },
  ]);
  assert.deepEqual([topics, data], [["module.log"], [{ module: "lamp", entry: own.entries[0] }]]);
  assert.equal(levels[0]?.(), undefined);
  modules["lamp"] = { logLevel: "debug" };
  assert.equal(levels[0]?.(), "debug");
});
