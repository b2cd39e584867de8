import type { Cause } from "@mantel/plugin-sdk/cause";
import { withDeadline } from "@mantel/plugin-sdk/deadline";
import type { Scene } from "@mantel/plugin-sdk/scene";
import type { EndCommand } from "../devices/causes.ts";
import { type Commands, errorOf } from "../devices/commands.ts";
import type { BridgeScene } from "./bridge-scenes.ts";
import type { SceneResult } from "./schema.ts";

/** A scene may have more commands than a bridge's burst: they may wait up to this long. */
const LONGEST_SCENE_WAIT_MS = 10_000;

/**
 * Activates a bridge's own scene in one native call. `begin` is called when it is sent.
 * @throws MantelError as for a command
 */
export async function activateInBridge(
  { bridgeId, description }: BridgeScene,
  activationId: string,
  { commands, begin }: { commands: Commands; begin: () => EndCommand },
): Promise<void> {
  const bridge = await commands.turnForScene(bridgeId, description.gateway);
  const wait = bridge.ready();
  if (wait) await wait;
  const end = begin();
  try {
    const answer = bridge.activateScene(description.nativeId, activationId);
    await withDeadline(answer, bridge.limits.confirmMs, `the scene ${description.name}`);
  } finally {
    end(bridge.limits.confirmMs);
  }
}

/** Sends every command of a scene at once, and returns the result of each. Never rejects. */
export function sendTargets(
  targets: Scene["targets"],
  commands: Commands,
  cause: Cause,
): Promise<SceneResult[]> {
  const options = { cause, longestWaitMs: LONGEST_SCENE_WAIT_MS };
  return Promise.all(
    Object.entries(targets).map(async ([deviceId, command]): Promise<SceneResult> => {
      try {
        const { status } = await commands.send(deviceId, command, options).done;
        return { deviceId, status };
      } catch (error) {
        return { deviceId, status: "failed", error: errorOf(error) };
      }
    }),
  );
}
