import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { SceneDescription } from "@mantel/plugin-sdk/scene";
import { DeviceIds } from "../devices/device-ids.ts";
import type { HostLog } from "../log.ts";

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

  /** The bridge that an id was given to, also while it has no scenes. */
  bridgeOf(id: string): string | undefined {
    return this.#ids.bridgeOf(id);
  }

  list(): readonly (readonly [id: string, scene: BridgeScene])[] {
    return [...this.#scenes.values()].flatMap((scenes) => [...scenes]);
  }
}
