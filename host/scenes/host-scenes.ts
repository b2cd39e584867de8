import { join } from "node:path";
import type { CommandBody } from "@mantel/plugin-sdk/device";
import { DocumentFile } from "@mantel/plugin-sdk/document-file";
import { MantelError } from "@mantel/plugin-sdk/errors";
import { SerialQueue } from "@mantel/plugin-sdk/serial-queue";
import type { Static } from "typebox";
import { withoutFormerNames } from "../documents/former-names.ts";
import type { HostLog } from "../log.ts";
import { check } from "../validate.ts";
import { type SceneBody, ScenesFile } from "./schema.ts";

const SCENES_LIMIT = 500;
type ScenesFile = Static<typeof ScenesFile>;
type Scenes = ReadonlyMap<string, SceneBody>;

interface Edited {
  readonly scenes: Map<string, SceneBody>;
  order: readonly string[];
}

/** The scenes made by users and the order of all scenes, stored in `<dataFolder>/scenes.json`. */
export class HostScenes {
  readonly #file: DocumentFile<ScenesFile>;
  readonly #queue = new SerialQueue();
  /** The stored scenes. */
  #scenes: Scenes;
  #order: readonly string[];

  static async open(dataFolder: string, log: HostLog): Promise<HostScenes> {
    const path = join(dataFolder, "scenes.json");
    const parse = (value: unknown) => check(ScenesFile, value, "scenes.json");
    const file = new DocumentFile({ path, parse, log, version: 1 });
    const { scenes: storedScenes = {}, order = [] } = (await file.load()) ?? {};
    const stored = Object.entries(storedScenes);
    const scenes = stored.map(([id, scene]) => [id, sceneInCurrentNames(id, scene, log)] as const);
    const opened = new HostScenes(file, new Map(scenes), order);
    const isRenamed = scenes.some(([, scene], at) => scene !== stored[at]?.[1]);
    // A failure costs only that the names are replaced again at the next start.
    if (isRenamed) await opened.#change(() => undefined).catch(logFailure(log));
    return opened;
  }

  private constructor(file: DocumentFile<ScenesFile>, scenes: Scenes, order: readonly string[]) {
    this.#file = file;
    this.#scenes = scenes;
    this.#order = order;
  }

  get all(): Scenes {
    return this.#scenes;
  }

  /** Ids of scenes of the host and of bridges; empty until somebody orders them. */
  get order(): readonly string[] {
    return this.#order;
  }

  /** Resolves when the order is stored. @throws MantelError `disk_full` */
  setOrder(orderOf: (stored: readonly string[]) => readonly string[]): Promise<void> {
    return this.#change((edited) => (edited.order = orderOf(edited.order)));
  }

  /** Resolves when the scene is stored. @throws MantelError `invalid`, `disk_full` */
  put(id: string, scene: SceneBody): Promise<void> {
    return this.#change(({ scenes }) => {
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
    return this.#change((edited) => {
      if (!edited.scenes.delete(id))
        throw new MantelError("scene_unknown", `no scene has the id ${id}`);
      edited.order = edited.order.filter((each) => each !== id);
    });
  }

  #change(edit: (edited: Edited) => void): Promise<void> {
    return this.#queue.take(async () => {
      const edited = { scenes: new Map(this.#scenes), order: this.#order };
      edit(edited);
      const { scenes, order } = edited;
      const stored = Object.fromEntries(scenes);
      await this.#file.write({
        version: 1,
        scenes: stored,
        ...(order.length > 0 && { order: [...order] }),
      });
      this.#scenes = scenes;
      this.#order = order;
    });
  }
}

/** The scene in the words of the vocabulary. */
export function sceneInCurrentNames(id: string, scene: SceneBody, log?: HostLog): SceneBody {
  let isRenamed = false;
  const targets = Object.entries(scene.targets).map(([device, stored]) => {
    const { command, renames } = withoutFormerNames(device, stored as CommandBody);
    isRenamed ||= renames.length > 0;
    for (const { from, to } of renames) {
      log?.info("renamed a field in a document", { document: id, device, from, to });
    }
    return [device, command] as const;
  });
  return isRenamed ? { ...scene, targets: Object.fromEntries(targets) } : scene;
}

const logFailure = (log: HostLog) => (error: unknown) =>
  log.warn("could not store the renamed fields", { file: "scenes.json", error });
