import { join } from "node:path";
import { DocumentFile } from "@mantel/plugin-sdk/document-file";
import { PLUGIN_ID } from "@mantel/plugin-sdk/manifest";
import { Strict } from "@mantel/plugin-sdk/schema";
import { SerialQueue } from "@mantel/plugin-sdk/serial-queue";
import { type Static, Type } from "typebox";
import type { HostLog } from "../log.ts";
import { check } from "../validate.ts";
import { MAX_SOURCE } from "./source.ts";

/** The lock document, in the data folder. */
export const LOCK_FILE = "packages.json";
/** The folder of the packages, in the data folder. */
export const PACKAGES_FOLDER = "packages";

const installed = {
  /** The package's name, as npm knows it. */
  name: Type.String({ maxLength: 214 }),
  version: Type.String({ maxLength: 100 }),
  source: Type.String({ maxLength: MAX_SOURCE + 10 }),
  /** SHA-512 of the archive (subresource integrity); null for a linked folder. */
  integrity: Type.Union([Type.String({ pattern: "^sha512-[A-Za-z0-9+/]+=*$" }), Type.Null()]),
  /** The folder in `packages/<id>`; for a linked folder its absolute path. */
  folder: Type.String({ minLength: 1, maxLength: 4_096 }),
  installedAt: Type.String({ format: "date-time" }),
  /** Dependencies whose install scripts the user allowed. */
  scripts: Type.Array(Type.String({ maxLength: 214 })),
};
const Installed = Type.Object(installed, Strict);
export const LockEntry = Type.Object(
  {
    ...installed,
    id: Type.String({ pattern: PLUGIN_ID, maxLength: 64 }),
    pinned: Type.Boolean(),
    /** The version before, which runs until the new one has proved itself. */
    previous: Type.Optional(Installed),
  },
  Strict,
);
export type LockEntry = Static<typeof LockEntry>;
export type InstalledVersion = Static<typeof Installed>;

export const LockFile = Type.Object(
  { version: Type.Literal(1), packages: Type.Array(LockEntry, { maxItems: 1_000 }) },
  Strict,
);

/**
 * The installed packages by plugin id. Writing the document is the moment at which an installation, an update or a
 * removal takes effect: a folder that it does not name is not a plugin.
 */
export class PackageLock {
  readonly #file: DocumentFile<Static<typeof LockFile>>;
  readonly #queue = new SerialQueue();
  #entries: Entries;

  static async open(dataFolder: string, log: HostLog): Promise<PackageLock> {
    const parse = (value: unknown) => check(LockFile, value, LOCK_FILE);
    const file = new DocumentFile({ path: join(dataFolder, LOCK_FILE), parse, log, version: 1 });
    return new PackageLock(file, await file.load());
  }

  /** True if the document exists. Without it nothing is known about the folders of packages. */
  readonly exists: boolean;

  private constructor(
    file: DocumentFile<Static<typeof LockFile>>,
    stored: Static<typeof LockFile> | undefined,
  ) {
    this.#file = file;
    this.exists = stored !== undefined;
    this.#entries = new Map((stored?.packages ?? []).map((entry) => [entry.id, entry]));
  }

  get entries(): readonly LockEntry[] {
    return [...this.#entries.values()];
  }

  find(id: string): LockEntry | undefined {
    return this.#entries.get(id);
  }

  /** Stores an entry, durably. @throws MantelError `disk_full`; the old entry then stays */
  set(entry: LockEntry): Promise<void> {
    return this.#change((entries) => new Map([...entries, [entry.id, entry]]));
  }

  /** Removes an entry, durably. @throws MantelError `disk_full`; the entry then stays */
  remove(id: string): Promise<void> {
    return this.#change((entries) => new Map([...entries].filter(([each]) => each !== id)));
  }

  #change(change: (entries: Entries) => Entries): Promise<void> {
    return this.#queue.take(async () => {
      const entries = change(this.#entries);
      await this.#file.write({ version: 1, packages: [...entries.values()] });
      this.#entries = entries;
    });
  }
}

type Entries = ReadonlyMap<string, LockEntry>;
