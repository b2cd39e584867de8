import { join } from "node:path";
import { DocumentFile } from "@mantel/plugin-sdk/document-file";
import { MantelError } from "@mantel/plugin-sdk/errors";
import { SerialQueue } from "@mantel/plugin-sdk/serial-queue";
import type { Static } from "typebox";
import type { HostLog } from "../log.ts";
import { check } from "../validate.ts";
import { type SceneBody, ScenesFile } from "./schema.ts";

const SCENES_LIMIT = 500;
type ScenesFile = Static<typeof ScenesFile>;
type Scenes = ReadonlyMap<string, SceneBody>;

/** The scenes made by users, stored in `<dataFolder>/scenes.json`. */
export class HostScenes {
  readonly #file: DocumentFile<ScenesFile>;
  readonly #turns = new SerialQueue();
  /** The stored scenes. */
  #scenes: Scenes;

  static async open(dataFolder: string, log: HostLog): Promise<HostScenes> {
    const path = join(dataFolder, "scenes.json");
    const parse = (value: unknown) => check(ScenesFile, value, "scenes.json");
    const file = new DocumentFile({ path, parse, log, version: 1 });
    return new HostScenes(file, await file.load());
  }

  private constructor(file: DocumentFile<ScenesFile>, stored: ScenesFile | undefined) {
    this.#file = file;
    this.#scenes = new Map(Object.entries(stored?.scenes ?? {}));
  }

  get all(): Scenes {
    return this.#scenes;
  }

  /** Resolves when the scene is stored. @throws MantelError `invalid`, `disk_full` */
  put(id: string, scene: SceneBody): Promise<void> {
    return this.#change((scenes) => {
      scenes.set(id, scene);
      if (scenes.size <= SCENES_LIMIT) return;
      throw new MantelError(
        "invalid",
        `there are already ${SCENES_LIMIT} scenes; delete one first`,
      );
    });
  }

  /** Resolves when the scene is deleted. @throws MantelError `scene_unknown`, `disk_full` */
  remove(id: string): Promise<void> {
    return this.#change((scenes) => {
      if (!scenes.delete(id)) throw new MantelError("scene_unknown", `no scene has the id ${id}`);
    });
  }

  #change(edit: (scenes: Map<string, SceneBody>) => void): Promise<void> {
    return this.#turns.take(async () => {
      const scenes = new Map(this.#scenes);
      edit(scenes);
      await this.#file.write({ version: 1, scenes: Object.fromEntries(scenes) });
      this.#scenes = scenes;
    });
  }
}
