import assert from "node:assert/strict";
import { test } from "node:test";
import type { Cause } from "@mantel/plugin-sdk/cause";
import { MantelError } from "@mantel/plugin-sdk/errors";
import { EVENING, faultsOf, openScenes } from "./open-scenes.ts";

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

test("publishing the same scenes is not a change, publishing fewer is", async (t) => {
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
  assert.deepEqual(heard(), ["scene.failed", "scenes.changed", "scene.failed"]);
});

test("a scene that failed is announced with its name, the reason and the caller", async (t) => {
  const { scenes, bridge, bus } = await openScenes(t);
  await scenes.publish("b", [{ nativeId: "s1", name: "Movie" }]);
  const anna = { kind: "person", id: "1", name: "Anna" } as const;
  const failed: unknown[] = [];
  bus.on(({ topic, data }) => {
    if (topic === "scene.failed") failed.push([data.name, data.error.code, data.cause]);
  });
  bridge.answer = () => Promise.reject(new MantelError("deadline_passed", "no answer"));

  await assert.rejects(scenes.activate("demo:scene:1", anna));

  assert.deepEqual(failed, [["Movie", "deadline_passed", anna]]);
});

test("a scene that its bridge cannot activate now is listed as unavailable", async (t) => {
  const { scenes, heard } = await openScenes(t);
  const scene = { nativeId: "s1", name: "Movie" };
  await scenes.publish("b", [{ ...scene, available: false }]);
  const before = scenes.get("demo:scene:1").available;
  heard();

  await scenes.publish("b", [scene]);

  assert.deepEqual([before, scenes.get("demo:scene:1").available], [false, true]);
  assert.deepEqual(heard(), ["scenes.changed"]);
});

test("removing a bridge removes its scenes and keeps the host's", async (t) => {
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

test("a change by a bridge's scene is caused by the scene, and the scene by its caller", async (t) => {
  const { scenes, bridge, bus, devices } = await openScenes(t);
  await scenes.publish("b", [{ nativeId: "s1", name: "Movie", targets: { a: { on: true } } }]);
  const anna = { kind: "person", id: "1", name: "Anna" } as const;
  const causes: (Cause | undefined)[] = [];
  bus.on(({ topic, data }) => {
    if (topic === "device.state" || topic === "scene.activated") causes.push(data.cause);
  });
  bridge.answer = () => devices.update("b", [{ nativeId: "a", state: { on: true } }]);

  const { cause } = await scenes.activate("demo:scene:1", anna);

  assert.deepEqual(cause, anna);
  const [changed, activated] = causes;
  const { at, ...scene } = changed ?? assert.fail();
  assert.deepEqual(scene, { kind: "scene", id: "demo:scene:1", name: "Movie", parent: anna });
  assert.deepEqual([typeof at, activated], ["string", anna]);
});
