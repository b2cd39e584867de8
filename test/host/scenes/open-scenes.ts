import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import type { MantelError } from "@mantel/plugin-sdk/errors";
import { Commands } from "../../../host/devices/commands.ts";
import { SceneRegistry } from "../../../host/scenes/registry.ts";
import { createBridge, lamp, openDevices } from "../devices/open-devices.ts";

/** A scene of the host. */
export const EVENING = {
  name: "Evening",
  room: "Living room",
  icon: "mdi:weather-night",
  targets: { "demo:light:1": { brightness: 20 }, "demo:light:2": { on: false } },
};

/** Scenes over a bridge `demo` with two lamps. */
export async function openScenes(t: TestContext, usedFolder?: string) {
  const bridge = createBridge("b", "demo");
  const home = await openDevices(t, [bridge], usedFolder);
  await home.devices.publish("b", [lamp("a"), lamp("c")]);
  const scenes = await SceneRegistry.open({ ...home, commands: new Commands(home) });
  home.heard();
  return { ...home, bridge, scenes };
}

/** Checks that an error names faults at these places, and no others. */
export const faultsOf = (pointers: readonly string[]) => (error: MantelError) => {
  assert.equal(error.code, "invalid");
  assert.deepEqual(
    error.extras.errors?.map(({ pointer }) => pointer),
    pointers,
  );
  return true;
};
