import assert from "node:assert/strict";
import { test } from "node:test";
import type { ApiEvents } from "../../../host/api/events.ts";
import { packageJson, startModules } from "../../helpers/module.ts";
import { until } from "../../helpers/until.ts";
import { createBridge, lamp, openDevices } from "./open-devices.ts";

test("two equal events are announced twice, with the device's id and time", async (t) => {
  const { devices, bus } = await openDevices(t, [createBridge("hue-1", "hue")]);
  const heard: ApiEvents["device.event"][] = [];
  bus.on(({ topic, data }) => topic === "device.event" && heard.push(data));
  await devices.publish("hue-1", [lamp("a")]);
  const before = Date.now();

  await devices.announceEvent("hue-1", { nativeId: "a", event: "on" });
  await devices.announceEvent("hue-1", { nativeId: "a", event: "on", data: { side: 2 } });

  assert.deepEqual(
    heard.map(({ deviceId, event, data }) => ({ deviceId, event, data })),
    [
      { deviceId: "hue:light:1", event: "on", data: undefined },
      { deviceId: "hue:light:1", event: "on", data: { side: 2 } },
    ],
  );
  const at = Date.parse(heard[0]?.at ?? "");
  assert.ok(before <= at && at <= Date.now());
});

test("invalid events, events of unknown devices and too many events are refused", async (t) => {
  const { devices, bus } = await openDevices(t, [createBridge("hue-1", "hue")]);
  let heard = 0;
  bus.on(({ topic }) => topic === "device.event" && heard++);
  await devices.publish("hue-1", [lamp("a")]);

  const wrong = [
    { nativeId: "a", event: "" },
    { nativeId: "a", event: "on", data: { "not a name": 1 } },
    { nativeId: "b", event: "on" },
  ];
  const presses = Array.from({ length: 1_000 }, () => ({ nativeId: "a", event: "on" }));
  const told = await Promise.allSettled(
    [...wrong, ...presses].map((event) => devices.announceEvent("hue-1", event)),
  );

  assert.ok(heard >= 50 && heard <= 100, `${heard}`);
  assert.deepEqual(
    told
      .slice(0, 3)
      .map((each) => each.status === "rejected" && each.reason.extras.errors[0].pointer),
    ["/event", "/data/not a name", "/nativeId"],
  );
  assert.equal(told.filter(({ status }) => status === "fulfilled").length, heard);
});

test("an event of a device comes after the device's publish", async (t) => {
  const { devices, heard } = await openDevices(t, [createBridge("hue-1", "hue")]);

  const published = devices.publish("hue-1", [lamp("a")]);
  await devices.announceEvent("hue-1", { nativeId: "a", event: "on" });
  await published;

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
  const heard: ApiEvents["device.event"][] = [];
  bus.on(({ topic, data }) => topic === "device.event" && heard.push(data));

  await commands.send("press:light:1", { on: true }).done;

  const { deviceId, event, data } = (await until(() => heard[0])) ?? {};
  assert.deepEqual([deviceId, event, data], ["press:light:1", "double", { side: 2 }]);
});
