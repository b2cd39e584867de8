import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { type Fault, MantelError } from "@mantel/plugin-sdk/errors";
import { SceneDescription } from "@mantel/plugin-sdk/scene";
import { Type } from "typebox";
import { DeviceIds } from "../devices/device-ids.ts";
import type { HostLog } from "../log.ts";
import { check, invalid } from "../validate.ts";

const SCENES_PER_BRIDGE = 1_000;
const TARGETS_PER_SCENE = 1_000;
const Descriptions = Type.Array(SceneDescription);

/** A scene of a bridge. */
export interface BridgeScene {
  readonly bridgeId: string;
  readonly description: SceneDescription;
}

/** The scenes of every bridge, by their permanent ids, which are in `<dataFolder>/scene-numbers.json`. */
export class BridgeScenes {
  readonly #ids: DeviceIds;
  readonly #scenes = new Map<string, ReadonlyMap<string, BridgeScene>>();

  static async open(dataFolder: string, log: HostLog): Promise<BridgeScenes> {
    return new BridgeScenes(await DeviceIds.open(join(dataFolder, "scene-numbers.json"), log));
  }

  private constructor(numbers: DeviceIds) {
    this.#ids = numbers;
  }

  /** Replaces the whole set of a bridge; true if it changed. */
  async replace(
    bridge: { readonly id: string; readonly kind: string },
    descriptions: readonly SceneDescription[],
  ): Promise<boolean> {
    const numbered = descriptions.map(({ nativeId }) => ({ nativeId, kind: "scene" }));
    const ids = await this.#ids.assign(bridge, numbered);
    const scenes = new Map(
      descriptions.map((description, index) => [
        ids[index] ?? "",
        { bridgeId: bridge.id, description },
      ]),
    );
    const before = this.#scenes.get(bridge.id) ?? new Map<string, BridgeScene>();
    this.#scenes.set(bridge.id, scenes);
    return !isDeepStrictEqual([...before], [...scenes]);
  }

  /** True if the bridge had scenes. */
  remove(bridgeId: string): boolean {
    const hadScenes = this.has(bridgeId);
    this.#scenes.delete(bridgeId);
    return hadScenes;
  }

  has(bridgeId: string): boolean {
    return (this.#scenes.get(bridgeId)?.size ?? 0) > 0;
  }

  find(id: string): BridgeScene | undefined {
    for (const scenes of this.#scenes.values()) {
      const scene = scenes.get(id);
      if (scene) return scene;
    }
    return undefined;
  }

  list(): readonly (readonly [id: string, scene: BridgeScene])[] {
    return [...this.#scenes.values()].flatMap((scenes) => [...scenes]);
  }
}

/** @throws MantelError `invalid`, with every fault */
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
