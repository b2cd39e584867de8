import assert from "node:assert/strict";
import { test } from "node:test";
import type { Announcements } from "../../../host/events/bus.ts";
import { packageJson, startModules } from "../../helpers/module.ts";
import { until } from "../../helpers/until.ts";
import { createBridge, lamp, openHouse } from "./open-house.ts";

test("the same event twice is announced twice, with the device's id and its instant", async (t) => {
  const { devices, bus } = await openHouse(t, [createBridge("hue-1", "hue")]);
  const heard: Announcements["device.event"][] = [];
  bus.listen(({ topic, data }) => topic === "device.event" && heard.push(data));
  await devices.publish("hue-1", [lamp("a")]);

  devices.announceEvent("hue-1", { nativeId: "a", event: "on" });
  devices.announceEvent("hue-1", { nativeId: "a", event: "on", data: { side: 2 } });

  assert.deepEqual(
    heard.map(({ deviceId, event, data }) => ({ deviceId, event, data })),
    [
      { deviceId: "hue:light:1", event: "on", data: undefined },
      { deviceId: "hue:light:1", event: "on", data: { side: 2 } },
    ],
  );
  assert.ok(Math.abs(Date.now() - Date.parse(heard[0]?.at ?? "")) < 1_000);
});

test("events that do not fit, of unknown devices, or too many, are counted and left out", async (t) => {
  const { devices, bus, lines } = await openHouse(t, [createBridge("hue-1", "hue")]);
  let heard = 0;
  bus.listen(({ topic }) => topic === "device.event" && heard++);
  await devices.publish("hue-1", [lamp("a")]);

  devices.announceEvent("hue-1", { nativeId: "a", event: "" });
  devices.announceEvent("hue-1", { nativeId: "a", event: "on", data: { "not a name": 1 } });
  devices.announceEvent("hue-1", { nativeId: "b", event: "on" });
  for (let i = 0; i < 1_000; i++) devices.announceEvent("hue-1", { nativeId: "a", event: "on" });

  assert.ok(heard >= 50 && heard <= 100, `${heard}`);
  assert.ok(lines.length >= 2 && lines.length <= 4, `${lines.length}`);
});

test("an event of a device that is being published comes after it", async (t) => {
  const { devices, heard } = await openHouse(t, [createBridge("hue-1", "hue")]);

  const published = devices.publish("hue-1", [lamp("a")]);
  devices.announceEvent("hue-1", { nativeId: "a", event: "on" });
  await published;
  await Promise.resolve();

  assert.match(JSON.stringify(heard()), /device\.added.*device\.event/);
});

test("an event comes from the process of its bridge", async (t) => {
  const source = `
import { definePlugin } from "@mantel/plugin-sdk";
export default definePlugin({ start: async ({ devices }) => {
  await devices.publish([{ nativeId: "a", kind: "light", name: "A", state: { on: false },
    capabilities: { on: { type: "boolean" } } }]);
  return { command: async () => devices.event("a", "double", { side: 2 }) };
} });`;
  const bridge = { kind: "press", commandsPerSecond: 10 };
  const { bus, commands } = await startModules(t, {
    press: { "package.json": packageJson("press", { bridge }), "index.ts": source },
  });
  const heard: Announcements["device.event"][] = [];
  bus.listen(({ topic, data }) => topic === "device.event" && heard.push(data));

  await commands.send("press:light:1", { on: true }).done;

  const { deviceId, event, data } = (await until(() => heard[0])) ?? {};
  assert.deepEqual([deviceId, event, data], ["press:light:1", "double", { side: 2 }]);
});
