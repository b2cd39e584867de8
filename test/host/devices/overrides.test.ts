import assert from "node:assert/strict";
import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { DeviceOverrides } from "../../../host/devices/overrides.ts";
import { DeviceRegistry } from "../../../host/devices/registry.ts";
import { emptyFolder } from "../../helpers/folder.ts";
import { until } from "../../helpers/until.ts";
import { createBridge, lamp, openDevices, recordedLog } from "./open-devices.ts";

const ID = "demo:light:1";

test("a user's name for a device overrides the bridge's name until it is set to null", async (t) => {
  const { devices, heard } = await openDevices(t, [createBridge("b", "demo")]);
  await devices.publish("b", [lamp("a", { room: "Hall" })]);
  heard();

  await devices.adjust(ID, {
    name: "Reading lamp ",
    room: "Study",
    groups: ["Evening ", "Evening", "Reading"],
    hidden: true,
  });
  const told = heard();
  await devices.publish("b", [lamp("a", { room: "Cellar", groups: ["Bridge group"] })]);
  const { name, room, groups, hidden } = devices.get(ID);
  await devices.adjust(ID, { name: null, room: null, groups: null, hidden: null });

  assert.deepEqual(told, [`device.state ${ID}`]);
  assert.deepEqual(
    [name, room, groups, hidden],
    ["Reading lamp", "Study", ["Evening", "Reading"], true],
  );
  const after = devices.get(ID);
  assert.deepEqual(
    [after.name, after.room, after.groups, after.hidden],
    ["a", "Cellar", ["Bridge group"], false],
  );
});

test("an invalid override is refused and changes nothing", async (t) => {
  const { devices } = await openDevices(t, [createBridge("b", "demo")]);
  await devices.publish("b", [lamp("a")]);
  const wrong: unknown[] = [
    ...[{}, { name: "" }, { name: " " }, { name: 3 }, { colour: "red" }, []],
    ...[{ name: "x".repeat(201) }, { room: "x".repeat(201) }, { room: 3 }, { hidden: "yes" }],
    ...[{ groups: "Evening" }, { groups: [""] }, { groups: Array(101).fill("x") }],
  ];

  for (const patch of wrong) {
    await assert.rejects(devices.adjust(ID, patch), {
      code: "invalid",
      message: /^the patch is invalid: /,
    });
  }
  await assert.rejects(devices.adjust("demo:light:9", { name: "x" }), { code: "device_unknown" });

  assert.equal(devices.get(ID).name, "a");
});

test("a present device cannot be forgotten", async (t) => {
  const { devices } = await openDevices(t, [createBridge("b", "demo")]);
  await devices.publish("b", [lamp("a")]);

  await assert.rejects(devices.forget(ID), {
    code: "device_present",
    message: "demo:light:1 is available; hide it, or remove it at its bridge",
  });
  await assert.rejects(devices.forget("demo:light:9"), {
    code: "device_unknown",
    message: "no device has the id demo:light:9",
  });

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

test("a name and a room may have 200 characters, and spaces around them are removed", async (t) => {
  const { devices } = await openDevices(t, [createBridge("b", "demo")]);
  await devices.publish("b", [lamp("a", { room: "Hall" })]);
  const long = "x".repeat(200);

  const first = await devices.adjust(ID, { name: long, room: long });
  const second = await devices.adjust(ID, { name: " Lamp ", room: " Study " });
  const third = await devices.adjust(ID, { room: "  " });

  assert.deepEqual([first.name, first.room], [long, long]);
  assert.deepEqual([second.name, second.room], ["Lamp", "Study"]);
  assert.deepEqual(
    [third.name, third.room],
    ["Lamp", null],
    "no room, although its bridge has one",
  );
});

test("each setting can be changed without the others, and only settings are stored", async (t) => {
  const { devices, dataFolder } = await openDevices(t, [createBridge("b", "demo")]);
  await devices.publish("b", [lamp("a"), lamp("c")]);
  const stored = async () =>
    (
      JSON.parse(await readFile(join(dataFolder, "device-wishes.json"), "utf8")) as {
        devices: unknown;
      }
    ).devices;

  await devices.adjust(ID, { name: "Lamp" });
  await devices.adjust(ID, { hidden: true });
  await devices.adjust(ID, { room: "Study" });
  const all = await stored();
  await devices.adjust(ID, { hidden: false });
  await devices.adjust(ID, { name: null });
  const some = await stored();
  await devices.adjust(ID, { room: null });

  assert.deepEqual(all, { [ID]: { name: "Lamp", hidden: true, room: "Study" } });
  assert.deepEqual(some, { [ID]: { room: "Study" } });
  assert.deepEqual(await stored(), {});
});

test("at most 5000 devices can have settings", async (t) => {
  const path = join(await emptyFolder(t), "device-wishes.json");
  const devices = Object.fromEntries(
    Array.from({ length: 4_999 }, (_, at) => [`demo:light:${at + 1}`, { hidden: true }]),
  );
  await writeFile(path, JSON.stringify({ version: 1, devices }));
  const overrides = await DeviceOverrides.open(path, recordedLog().log);

  await overrides.change("demo:light:5000", { hidden: true });

  await assert.rejects(overrides.change("demo:light:5001", { hidden: true }), {
    code: "invalid",
    message: "at most 5000 devices can be renamed or hidden",
  });
  await overrides.change("demo:light:1", { name: "Lamp" });
  assert.ok(overrides.over("demo:light:5000", { name: "x", room: null, groups: [] }).hidden);
  assert.ok(!overrides.over("demo:light:5001", { name: "x", room: null, groups: [] }).hidden);
});

test("a device that returned is logged if that cannot be stored, and is shown anyway", async (t) => {
  const { devices, dataFolder, lines } = await openDevices(t, [createBridge("b", "demo")]);
  await devices.publish("b", [lamp("a", { available: false })]);
  await devices.forget(ID);
  await rm(dataFolder, { recursive: true });

  await devices.update("b", [{ nativeId: "a", available: true }]);

  assert.equal(devices.list().length, 1);
  await until(() => lines.length > 0);
  const { level, sentence, fields } = lines[0] ?? assert.fail();
  assert.deepEqual(
    [level, sentence, fields["device"]],
    ["warn", "could not save that the device returned", ID],
  );
});

test("a device that returned is not forgotten after a restart", async (t) => {
  const home = await openDevices(t, [createBridge("b", "demo")]);
  const gone = lamp("a", { available: false });
  await home.devices.publish("b", [gone]);
  await home.devices.forget(ID);
  await home.devices.update("b", [{ nativeId: "a", available: true }]);
  const stored = () => readFile(join(home.dataFolder, "device-wishes.json"), "utf8");
  await until(async () => !(await stored()).includes("forgotten"));

  const again = await DeviceRegistry.open(home);
  await again.publish("b", [gone]);

  assert.equal(again.list().length, 1);
});

test("forgetting a device changes the revision", async (t) => {
  const { devices } = await openDevices(t, [createBridge("b", "demo")]);
  await devices.publish("b", [lamp("a", { available: false })]);
  const { revision } = devices;

  await devices.forget(ID);

  assert.ok(devices.revision > revision);
  assert.deepEqual(JSON.parse((await devices.snapshot()).body.toString()).devices, []);
});
