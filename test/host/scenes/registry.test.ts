import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { MantelError } from "@mantel/plugin-sdk/errors";
import { Commands } from "../../../host/devices/commands.ts";
import { SceneRegistry } from "../../../host/scenes/registry.ts";
import { createBridge, lamp, openHouse } from "../devices/open-house.ts";

const EVENING = {
  name: "Evening",
  room: "Living room",
  icon: "mdi:weather-night",
  targets: { "demo:light:1": { brightness: 20 }, "demo:light:2": { on: false } },
};

async function openScenes(t: TestContext, usedFolder?: string) {
  const bridge = createBridge("b", "demo");
  const house = await openHouse(t, [bridge], usedFolder);
  await house.devices.publish("b", [lamp("a"), lamp("c")]);
  const scenes = await SceneRegistry.open({ ...house, commands: new Commands(house) });
  house.heard();
  return { ...house, bridge, scenes };
}

const faultsOf = (pointers: readonly string[]) => (error: MantelError) => {
  assert.equal(error.code, "invalid");
  assert.deepEqual(
    error.extras.errors?.map(({ pointer }) => pointer),
    pointers,
  );
  return true;
};

test("a bridge's scene has a lasting id and its targets by device id", async (t) => {
  const { scenes, heard } = await openScenes(t);

  await scenes.publish("b", [
    {
      nativeId: "s1",
      name: "Movie",
      icon: "mdi:movie-open",
      targets: { c: { on: true }, gone: {} },
    },
    { nativeId: "s2", name: "Away" },
  ]);

  assert.deepEqual(scenes.list(), [
    {
      id: "demo:scene:1",
      name: "Movie",
      room: null,
      icon: "mdi:movie-open",
      source: "b",
      available: true,
      targets: { "demo:light:2": { on: true } },
      lastActivatedAt: null,
    },
    {
      id: "demo:scene:2",
      name: "Away",
      room: null,
      icon: null,
      source: "b",
      available: true,
      targets: {},
      lastActivatedAt: null,
    },
  ]);
  assert.deepEqual(heard(), ["scenes.changed"]);
});

test("the same scenes once more are no change, and fewer are one", async (t) => {
  const { scenes, heard } = await openScenes(t);
  const both = [
    { nativeId: "s1", name: "Movie" },
    { nativeId: "s2", name: "Away" },
  ];
  await scenes.publish("b", both);
  heard();

  await scenes.publish("b", both);
  const unchanged = heard();
  await scenes.publish("b", both.slice(1));

  assert.deepEqual(unchanged, []);
  assert.deepEqual(heard(), ["scenes.changed"]);
  assert.deepEqual(
    scenes.list().map(({ id }) => id),
    ["demo:scene:2"],
  );
});

test("a scene list with faults names them all and changes nothing", async (t) => {
  const { scenes } = await openScenes(t);
  await scenes.publish("b", [{ nativeId: "s1", name: "Movie" }]);

  const twice = scenes.publish("b", [
    { nativeId: "x", name: "One" },
    { nativeId: "x", name: "Two" },
  ]);
  const many = scenes.publish(
    "b",
    Array.from({ length: 1_001 }, () => ({})),
  );

  await assert.rejects(twice, faultsOf(["/1/nativeId"]));
  await assert.rejects(many, { code: "invalid", message: /1001 scenes/ });
  assert.deepEqual(
    scenes.list().map(({ name }) => name),
    ["Movie"],
  );
});

test("a bridge's scene is one native call", async (t) => {
  const { scenes, bridge, heard } = await openScenes(t);
  await scenes.publish("b", [{ nativeId: "s1", name: "Movie", targets: { a: { on: true } } }]);
  heard();

  const { activationId, ...activation } = await scenes.activate("demo:scene:1");

  assert.deepEqual(activation, {
    sceneId: "demo:scene:1",
    status: "ok",
    results: [{ deviceId: "demo:light:1", status: "applied" }],
  });
  assert.deepEqual(bridge.activated, ["s1"]);
  assert.deepEqual(bridge.asked, []);
  assert.ok(activationId);
  assert.ok(scenes.get("demo:scene:1").lastActivatedAt);
  assert.deepEqual(heard(), ["scene.activated"]);
});

test("a bridge's scene fails as a whole", async (t) => {
  const { scenes, bridge, heard } = await openScenes(t);
  await scenes.publish("b", [{ nativeId: "s1", name: "Movie" }]);
  heard();

  bridge.answer = () => Promise.reject(new MantelError("bridge_rate_limited", "slow down"));
  await assert.rejects(scenes.activate("demo:scene:1"), { code: "bridge_rate_limited" });
  bridge.status = "down";
  scenes.bridgeChanged("b");

  await assert.rejects(scenes.activate("demo:scene:1"), { code: "bridge_down" });
  assert.equal(scenes.get("demo:scene:1").available, false);
  assert.deepEqual(heard(), ["scenes.changed"]);
});

test("the scenes of a bridge that is removed go, and the host's stay", async (t) => {
  const { scenes } = await openScenes(t);
  await scenes.publish("b", [{ nativeId: "s1", name: "Movie" }]);
  await scenes.put("host:scene:evening", EVENING);

  scenes.removeBridge("b");

  assert.deepEqual(
    scenes.list().map(({ id }) => id),
    ["host:scene:evening"],
  );
  assert.throws(() => scenes.get("demo:scene:1"), { code: "scene_unknown" });
});

test("a scene of the host is there after a restart", async (t) => {
  const before = await openScenes(t);
  const stored = await before.scenes.put("host:scene:evening", EVENING);

  const { scenes } = await openScenes(t, before.dataFolder);

  assert.deepEqual(scenes.get("host:scene:evening"), stored);
  assert.deepEqual(stored, {
    ...EVENING,
    id: "host:scene:evening",
    source: "host",
    available: true,
    lastActivatedAt: null,
  });
});

test("a scene is replaced and deleted", async (t) => {
  const { scenes, heard, dataFolder } = await openScenes(t);
  await scenes.put("host:scene:evening", EVENING);

  await scenes.put("host:scene:evening", { ...EVENING, name: "Late evening" });
  const { name } = scenes.get("host:scene:evening");
  await scenes.remove("host:scene:evening");

  assert.equal(name, "Late evening");
  assert.deepEqual(scenes.list(), []);
  assert.deepEqual(heard(), ["scenes.changed", "scenes.changed", "scenes.changed"]);
  const file = JSON.parse(await readFile(join(dataFolder, "scenes.json"), "utf8"));
  assert.deepEqual(file, { version: 1, scenes: {} });
  await assert.rejects(scenes.remove("host:scene:evening"), { code: "scene_unknown" });
});

test("a scene is checked against the devices there are, and all faults are listed", async (t) => {
  const { scenes, heard } = await openScenes(t);
  const put = (body: unknown) => scenes.put("host:scene:evening", body);

  await assert.rejects(
    put({
      colour: "red",
      targets: {
        "demo:light:1": { brightness: 120, x: 1 },
        "demo:light:9": { on: true },
        "demo:light:2": {},
      },
    }),
    faultsOf([
      "/name",
      "/colour",
      "/targets/demo:light:1/brightness",
      "/targets/demo:light:1/x",
      "/targets/demo:light:9",
      "/targets/demo:light:2",
    ]),
  );
  await assert.rejects(put({ name: "Empty", targets: {} }), faultsOf(["/targets"]));
  await assert.rejects(put({ ...EVENING, icon: "<b>" }), faultsOf(["/icon"]));
  await assert.rejects(put(null), { code: "invalid" });

  assert.deepEqual(scenes.list(), []);
  assert.deepEqual(heard(), []);
});

test("a scene that belongs to a bridge cannot be written, and ids of the host have one form", async (t) => {
  const { scenes } = await openScenes(t);
  await scenes.publish("b", [{ nativeId: "s1", name: "Movie" }]);

  await assert.rejects(scenes.put("demo:scene:1", EVENING), { code: "scene_read_only" });
  await assert.rejects(scenes.remove("demo:scene:1"), { code: "scene_read_only" });
  for (const id of [
    "demo:scene:2",
    "host:scene:",
    "host:scene:1",
    "host:scene:A",
    "host:scene:a--b",
    "__proto__",
  ]) {
    await assert.rejects(scenes.put(id, EVENING), { code: "bad_id" }, id);
  }
  assert.deepEqual(
    scenes.list().map(({ id }) => id),
    ["demo:scene:1"],
  );
});

test("a scene of the host sends every command and tells how each ended", async (t) => {
  const { scenes, bridge, devices } = await openScenes(t);
  await scenes.put("host:scene:evening", EVENING);
  bridge.answer = async (nativeId) => {
    if (nativeId === "c") throw new TypeError("a secret of the plugin");
  };

  const failing = await scenes.activate("host:scene:evening");
  await devices.publish("b", [lamp("a")]);
  const missing = await scenes.activate("host:scene:evening");

  assert.deepEqual(
    bridge.asked.map(({ nativeId, command }) => ({ nativeId, command })),
    [
      { nativeId: "a", command: { on: true, brightness: 20 } },
      { nativeId: "c", command: { on: false } },
      { nativeId: "a", command: { on: true, brightness: 20 } },
    ],
  );
  assert.equal(failing.status, "partial");
  assert.deepEqual(failing.results, [
    { deviceId: "demo:light:1", status: "applied" },
    {
      deviceId: "demo:light:2",
      status: "failed",
      error: { code: "internal", detail: "the bridge has a fault; see the log" },
    },
  ]);
  assert.equal(missing.results[1]?.error?.code, "device_unknown");
});

test("a scene of more devices than a bridge takes at once is spread, and none of them fails", async (t) => {
  const bridge = createBridge("b", "demo", { commandsPerSecond: 50, burst: 5 });
  const house = await openHouse(t, [bridge]);
  await house.devices.publish(
    "b",
    Array.from({ length: 70 }, (_, n) => lamp(`lamp-${n}`)),
  );
  const scenes = await SceneRegistry.open({ ...house, commands: new Commands(house) });
  const targets = Object.fromEntries(house.devices.list().map(({ id }) => [id, { on: false }]));
  await scenes.put("host:scene:all-off", { name: "All off", targets });

  const { status, results } = await scenes.activate("host:scene:all-off");

  assert.equal(status, "ok");
  assert.equal(results.length, 70);
  assert.equal(bridge.asked.length, 70);
});

test("an unknown scene is told so", async (t) => {
  const { scenes } = await openScenes(t);

  await assert.rejects(scenes.activate("host:scene:none"), { code: "scene_unknown" });
});

test("a damaged scene file is set aside and its last good copy goes on", async (t) => {
  const before = await openScenes(t);
  await before.scenes.put("host:scene:evening", EVENING);
  await writeFile(join(before.dataFolder, "scenes.json"), '{"version":1,"scenes":[]}');

  const { scenes, lines } = await openScenes(t, before.dataFolder);

  assert.deepEqual(
    scenes.list().map(({ id }) => id),
    ["host:scene:evening"],
  );
  assert.equal(lines[0]?.level, "error");
});
