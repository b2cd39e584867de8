import assert from "node:assert/strict";
import { test } from "node:test";
import { DeviceRegistry } from "../../../host/devices/registry.ts";
import { createBridge, lamp, openDevices } from "./open-devices.ts";

const ID = "demo:light:1";

test("a user's name for a device overrides the bridge's name until it is set to null", async (t) => {
  const { devices, heard } = await openDevices(t, [createBridge("b", "demo")]);
  await devices.publish("b", [lamp("a", { room: "Hall" })]);
  heard();

  await devices.adjust(ID, { name: "Reading lamp ", room: "Study", hidden: true });
  const told = heard();
  await devices.publish("b", [lamp("a", { room: "Cellar" })]);
  const { name, room, hidden } = devices.get(ID);
  await devices.adjust(ID, { name: null, room: null, hidden: null });

  assert.deepEqual(told, [`device.state ${ID}`]);
  assert.deepEqual([name, room, hidden], ["Reading lamp", "Study", true]);
  const after = devices.get(ID);
  assert.deepEqual([after.name, after.room, after.hidden], ["a", "Cellar", false]);
});

test("an invalid override is refused and changes nothing", async (t) => {
  const { devices } = await openDevices(t, [createBridge("b", "demo")]);
  await devices.publish("b", [lamp("a")]);
  const wrong: unknown[] = [{}, { name: "" }, { name: " " }, { name: 3 }, { colour: "red" }, []];

  for (const patch of wrong) {
    await assert.rejects(devices.adjust(ID, patch), { code: "invalid" });
  }
  await assert.rejects(devices.adjust("demo:light:9", { name: "x" }), { code: "device_unknown" });

  assert.equal(devices.get(ID).name, "a");
});

test("a present device cannot be forgotten", async (t) => {
  const { devices } = await openDevices(t, [createBridge("b", "demo")]);
  await devices.publish("b", [lamp("a")]);

  await assert.rejects(devices.forget(ID), { code: "device_present" });

  assert.equal(devices.list().length, 1);
});

test("a forgotten device stays removed while it is unreachable and returns under its id", async (t) => {
  const { devices, heard } = await openDevices(t, [createBridge("b", "demo")]);
  const gone = lamp("a", { available: false });
  await devices.publish("b", [gone, lamp("c")]);
  await devices.adjust(ID, { name: "Old lamp" });
  heard();

  await devices.forget(ID);
  await devices.publish("b", [gone, lamp("c")]);
  const away = { listed: devices.list().map(({ name }) => name), told: heard() };
  await devices.update("b", [{ nativeId: "a", available: true }]);

  assert.deepEqual(away, { listed: ["c"], told: [`device.removed ${ID}`] });
  assert.deepEqual(heard(), [`device.added ${ID}`]);
  assert.equal(devices.get(ID).name, "a");
});

test("overrides and forgotten devices survive a restart", async (t) => {
  const home = await openDevices(t, [createBridge("b", "demo")]);
  const described = [lamp("a", { available: false }), lamp("c")];
  await home.devices.publish("b", described);
  await home.devices.forget(ID);
  await home.devices.adjust("demo:light:2", { name: "Counter", room: "" });

  const again = await DeviceRegistry.open(home);
  await again.publish("b", described);

  assert.deepEqual(
    again.list().map(({ name, room }) => [name, room]),
    [["Counter", null]],
  );
});
