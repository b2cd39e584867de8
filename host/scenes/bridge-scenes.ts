import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { MantelError } from "@mantel/plugin-sdk/errors";
import { SceneDescription } from "@mantel/plugin-sdk/scene";
import { Type } from "typebox";
import { NumberTable } from "../devices/numbers.ts";
import type { HostLog } from "../log.ts";
import { check, invalid } from "../validate.ts";

const SCENES_PER_BRIDGE = 1_000;
const Descriptions = Type.Array(SceneDescription);

/** A scene that lives in a bridge. */
export interface BridgeScene {
  readonly bridgeId: string;
  readonly description: SceneDescription;
}

/** The scenes of every bridge, by their lasting ids. `<dataFolder>/scene-numbers.json` has the ids. */
export class BridgeScenes {
  readonly #numbers: NumberTable;
  readonly #scenes = new Map<string, ReadonlyMap<string, BridgeScene>>();

  static async open(dataFolder: string, log: HostLog): Promise<BridgeScenes> {
    return new BridgeScenes(await NumberTable.open(join(dataFolder, "scene-numbers.json"), log));
  }

  private constructor(numbers: NumberTable) {
    this.#numbers = numbers;
  }

  /** Takes the whole set of a bridge in place of the set before; true when they differ. */
  async replace(
    bridge: { readonly id: string; readonly kind: string },
    descriptions: readonly SceneDescription[],
  ): Promise<boolean> {
    const numbered = descriptions.map(({ nativeId }) => ({ nativeId, kind: "scene" }));
    const ids = await this.#numbers.assign(bridge, numbered);
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

  /** True when the bridge had scenes. */
  remove(bridgeId: string): boolean {
    const had = this.has(bridgeId);
    this.#scenes.delete(bridgeId);
    return had;
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
  // Counted before anything is looked at: listing the faults of a huge list takes long.
  if (Array.isArray(input) && input.length > SCENES_PER_BRIDGE) {
    const count = `${input.length} scenes; a bridge may have ${SCENES_PER_BRIDGE}`;
    throw new MantelError("invalid", `${bridgeId} publishes ${count}`);
  }
  const what = `the scene list of ${bridgeId}`;
  const scenes = check(Descriptions, input, what);
  const ids = scenes.map((scene) => scene.nativeId);
  const faults = ids.flatMap((nativeId, index) =>
    ids.indexOf(nativeId) === index
      ? []
      : [{ pointer: `/${index}/nativeId`, detail: `is ${nativeId}, which another scene has` }],
  );
  if (faults.length > 0) throw invalid(what, faults);
  return scenes;
}
