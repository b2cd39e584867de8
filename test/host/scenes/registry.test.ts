import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { MantelError } from "@mantel/plugin-sdk/errors";
import { Commands } from "../../../host/devices/commands.ts";
import { SceneRegistry } from "../../../host/scenes/registry.ts";
import { createBridge, lamp, openDevices } from "../devices/open-devices.ts";
import { EVENING, faultsOf, openScenes } from "./open-scenes.ts";

test("a scene of the host exists after a restart", async (t) => {
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

test("a scene is validated against existing devices, and all faults are listed", async (t) => {
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

test("a scene of the host sends every command and reports each result", async (t) => {
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
      error: { code: "internal", detail: "the bridge failed; see the log" },
    },
  ]);
  assert.equal(missing.results[1]?.error?.code, "device_unknown");
});

test("an activation and the failure of a bridge's scene are logged with their cause", async (t) => {
  const { scenes, bridge, lines } = await openScenes(t);
  const cause = { kind: "person", id: "7", name: "Anna" } as const;
  await scenes.publish("b", [{ nativeId: "s1", name: "Movie" }]);
  await scenes.activate("demo:scene:1", cause);
  bridge.answer = () => Promise.reject(new MantelError("bridge_down", "gone"));

  await assert.rejects(scenes.activate("demo:scene:1", cause));

  assert.deepEqual(
    lines.map(({ level, sentence, fields }) => [level, sentence, fields["cause"]]),
    [
      ["info", "activates a scene", cause],
      ["debug", "activates a scene", cause],
      ["warn", "a scene failed", cause],
    ],
  );
});

test("commands of a large scene are spread over time, and none fails", async (t) => {
  const bridge = createBridge("b", "demo", { commandsPerSecond: 50, burst: 5 });
  const home = await openDevices(t, [bridge]);
  await home.devices.publish(
    "b",
    Array.from({ length: 70 }, (_, n) => lamp(`lamp-${n}`)),
  );
  const scenes = await SceneRegistry.open({ ...home, commands: new Commands(home) });
  const targets = Object.fromEntries(home.devices.list().map(({ id }) => [id, { on: false }]));
  await scenes.put("host:scene:all-off", { name: "All off", targets });

  const { status, results } = await scenes.activate("host:scene:all-off");

  assert.equal(status, "ok");
  assert.equal(results.length, 70);
  assert.equal(bridge.asked.length, 70);
});

test("an unknown scene is reported", async (t) => {
  const { scenes } = await openScenes(t);

  await assert.rejects(scenes.activate("host:scene:none"), { code: "scene_unknown" });
});

test("a damaged scene file is set aside, and its last good copy is used", async (t) => {
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
