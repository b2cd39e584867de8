import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { Commands } from "../../../host/devices/commands.ts";
import { SceneRegistry } from "../../../host/scenes/registry.ts";
import { createBridge, lamp, openDevices } from "./open-devices.ts";

/** A bridge that lets one thing through at once, and another one no sooner than in ten seconds. */
async function openGateways(t: TestContext) {
  const slow = { commandsPerSecond: 0.1, burst: 1 };
  const bridge = createBridge("b", "demo", { ...slow, rates: [{ kinds: ["scene"], ...slow }] });
  const home = await openDevices(t, [bridge]);
  const commands = new Commands(home);
  const scenes = await SceneRegistry.open({ ...home, commands });
  const send = (number: number) => commands.send(`demo:light:${number}`, { on: true });
  return { ...home, bridge, scenes, send };
}

const REFUSED = { code: "bridge_rate_limited" };

test("a gateway at its limit does not block another gateway", async (t) => {
  const { devices, bridge, send } = await openGateways(t);
  await devices.publish("b", [
    lamp("a", { gateway: "one" }),
    lamp("c", { gateway: "one" }),
    lamp("d", { gateway: "two" }),
    lamp("e"),
  ]);

  await send(1).done;
  assert.throws(() => send(2), REFUSED);
  await Promise.all([send(3).done, send(4).done]);

  assert.deepEqual(
    bridge.asked.map(({ nativeId }) => nativeId),
    ["a", "d", "e"],
  );
});

test("a moved device counts at its new gateway", async (t) => {
  const { devices, send } = await openGateways(t);
  const [a, c] = [lamp("a", { gateway: "one" }), lamp("c", { gateway: "one" })];
  await devices.publish("b", [a, c]);
  await send(1).done;

  await devices.publish("b", [a, { ...c, gateway: "two" }]);

  await send(2).done;
  assert.throws(() => send(1), REFUSED);
});

test("scenes of different gateways do not wait for each other", async (t) => {
  const { scenes, bridge } = await openGateways(t);
  await scenes.publish("b", [
    { nativeId: "s1", name: "Movie", gateway: "one" },
    { nativeId: "s2", name: "Away", gateway: "one" },
    { nativeId: "s3", name: "Night", gateway: "two" },
  ]);

  await scenes.activate("demo:scene:1");
  await assert.rejects(scenes.activate("demo:scene:2"), REFUSED);
  await scenes.activate("demo:scene:3");

  assert.deepEqual(bridge.activated, ["s1", "s3"]);
});
