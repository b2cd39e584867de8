import { Type } from "typebox";
import { type Fault, MantelError } from "./errors.ts";
import { SceneDescription } from "./scene.ts";
import { check, invalid } from "./validate.ts";

const SCENES_PER_BRIDGE = 1_000;
const TARGETS_PER_SCENE = 1_000;
const Descriptions = Type.Array(SceneDescription);

/**
 * Parses the whole set of a bridge's scenes from its process.
 * @throws MantelError `invalid`, with every fault
 */
export function parseScenes(bridgeId: string, input: unknown): SceneDescription[] {
  // Counted before validation: listing the faults of a huge list takes long.
  if (Array.isArray(input) && input.length > SCENES_PER_BRIDGE) {
    const count = `${input.length} scenes; a bridge may have at most ${SCENES_PER_BRIDGE}`;
    throw new MantelError("invalid", `${bridgeId} publishes ${count}`);
  }
  const what = `the scene list of ${bridgeId}`;
  const faults = targetFaults(input);
  if (faults.length > 0) throw invalid(what, faults);
  const scenes = check(Descriptions, input, what);
  const first = new Map<string, number>();
  for (const [index, { nativeId }] of scenes.entries()) {
    if (first.has(nativeId)) {
      const detail = `is ${nativeId}, which another scene has`;
      faults.push({ pointer: `/${index}/nativeId`, detail });
    }
    first.set(nativeId, index);
  }
  if (faults.length > 0) throw invalid(what, faults);
  return scenes;
}

function targetFaults(input: unknown): Fault[] {
  return (Array.isArray(input) ? input : []).flatMap(
    (scene: Partial<SceneDescription> | null, index) => {
      const count = Object.keys(scene?.targets ?? {}).length;
      if (count <= TARGETS_PER_SCENE) return [];
      const detail = `has ${count} entries; it may have at most ${TARGETS_PER_SCENE}`;
      return [{ pointer: `/${index}/targets`, detail }];
    },
  );
}
