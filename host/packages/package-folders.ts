import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readdir, rename, rm } from "node:fs/promises";
import { join, sep } from "node:path";
import { asDiskFault } from "@mantel/plugin-sdk/document-file";
import { syncFolder } from "@mantel/plugin-sdk/durable-file";
import type { HostLog } from "../log.ts";
import type { PackageFolder } from "../modules/manifest/discover.ts";
import { type LockEntry, type PackageLock, PACKAGES_FOLDER } from "./lock.ts";
import { isStaging } from "./stage.ts";

/**
 * The folders of installed packages. Each version has its own, `<data>/packages/<id>/<version>-…`, with its
 * dependencies in it. A linked package stays where it is.
 */
export class PackageFolders {
  readonly root: string;
  readonly #lock: PackageLock;
  readonly #log: HostLog;

  constructor({ dataFolder, lock, log }: FoldersDependencies) {
    this.root = join(dataFolder, PACKAGES_FOLDER);
    this.#lock = lock;
    this.#log = log;
  }

  /** The folder of an installed version. */
  of(entry: Pick<LockEntry, "id" | "folder" | "integrity">): string {
    return folderOf(this.root, entry);
  }

  isPresent(entry: LockEntry): boolean {
    return existsSync(join(this.of(entry), "package.json"));
  }

  /** Moves a prepared folder to its final name, which nothing uses yet, and returns that. @throws MantelError `disk_full` */
  async moveIn(id: string, version: string, folder: string): Promise<string> {
    const name = `${version.replace(/[^\w.-]/g, "_").slice(0, 60)}-${randomBytes(4).toString("hex")}`;
    const place = join(this.root, id);
    try {
      await mkdir(place, { recursive: true, mode: 0o700 });
      await syncFolder(this.root);
      await rename(folder, join(place, name));
      await syncFolder(place);
    } catch (error) {
      throw asDiskFault(error, `the folder of ${id}`);
    }
    return name;
  }

  /** Removes what no entry names: leftovers of a crash, and versions that are no longer needed. */
  async sweep(): Promise<void> {
    const kept = new Set(
      this.#lock.entries.flatMap(({ id, folder, previous }) => [
        join(id, folder),
        ...(previous ? [join(id, previous.folder)] : []),
      ]),
    );
    const isKept = (path: string) => [...kept].some((each) => each.startsWith(path + sep));
    for (const name of await readdir(this.root).catch(() => [])) {
      if (isStaging(name) || !isKept(name)) {
        await this.#delete(name);
        continue;
      }
      const versions = await readdir(join(this.root, name)).catch(() => []);
      // A restored lock document may name other versions than are here; these then stay for a look.
      if (!versions.some((version) => kept.has(join(name, version)))) continue;
      for (const version of versions) {
        if (!kept.has(join(name, version))) await this.#delete(join(name, version));
      }
    }
  }

  async #delete(path: string): Promise<void> {
    await rm(join(this.root, path), { recursive: true, force: true }).catch((error: unknown) =>
      this.#log.warn("could not delete a folder of an old package", { path, error }),
    );
  }
}

interface FoldersDependencies {
  readonly dataFolder: string;
  readonly lock: PackageLock;
  readonly log: HostLog;
}

/** The folders of all installed packages, for the search of plugins. */
export function packageFolders(dataFolder: string, lock: PackageLock): PackageFolder[] {
  const root = join(dataFolder, PACKAGES_FOLDER);
  return lock.entries.map((entry) => ({
    id: entry.id,
    isLinked: entry.integrity === null,
    folder: folderOf(root, entry),
  }));
}

function folderOf(
  root: string,
  { id, folder, integrity }: Pick<LockEntry, "id" | "folder" | "integrity">,
): string {
  return integrity === null ? folder : join(root, id, folder);
}
