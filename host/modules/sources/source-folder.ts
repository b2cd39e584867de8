import { mkdirSync, readdirSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { asDiskFault } from "@mantel/plugin-sdk/document-file";
import { MantelError } from "@mantel/plugin-sdk/errors";
import { Semaphore } from "@mantel/plugin-sdk/semaphore";
import type { SourceChange } from "@mantel/plugin-sdk/sources";
import type { HostLog } from "../../log.ts";
import { Watcher } from "../watch/watch.ts";
import { type BuiltSource, compileSource } from "./compile-source.ts";

const BUILDS_AT_ONCE = 8;
const MOST_FILES = 1_000;
const SOURCE = /^[a-z0-9][\w.-]{0,79}(?<!\.d)(?<!\.test)\.ts$/i;
/** Files for editors, which are not code. */
const DESCRIPTION = /^([a-z][a-z0-9-]{0,40}\.d\.ts|tsconfig\.json)$/;
const LARGEST_DESCRIPTION = 4_194_304;

interface Held {
  /** Absent before the first build. */
  built?: BuiltSource;
  /** The last build without a fault. */
  good?: Extract<SourceChange, { kind: "compiled" }>;
  /** Settles with the running build. */
  building?: Promise<void>;
  /** True if it changed during the running build. */
  isDirty: boolean;
}

/** One folder of TypeScript files. Each file is compiled on its own, and again when it or a file that it imports changes. */
export class SourceFolder {
  readonly #folder: string;
  readonly #log: HostLog;
  readonly #watcher: Watcher;
  readonly #files = new Map<string, Held>();
  readonly #listeners = new Set<(change: SourceChange) => void>();
  readonly #slots = new Semaphore(BUILDS_AT_ONCE);
  #hasWarned = false;

  /** Watches a folder, which is created if it does not exist. */
  constructor(folder: string, log: HostLog) {
    this.#folder = folder;
    this.#log = log;
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    this.#watcher = new Watcher([], {
      onChange: ({ files }) => this.#changed(files),
      concerns: (path) => this.#entriesOf(path).length > 0,
      onFailure: (failed, error) => log.error("cannot watch a folder", { folder: failed, error }),
    });
    this.#watcher.follow(new Set([folder]));
    this.#look();
  }

  /** Calls a listener at each change from now on. Returns the function that ends it. */
  on(listener: (change: SourceChange) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** The present files: of a faulty one its last good code and then its fault. Waits for running builds. */
  async present(): Promise<SourceChange[]> {
    for (const { building } of this.#files.values()) await building;
    return [...this.#files.values()].flatMap(({ built, good }) => {
      const changes = [good, built?.change].filter((each) => each !== undefined);
      return [...new Set(changes)];
    });
  }

  /**
   * Adds a source file, which is built like any other.
   * @throws MantelError `invalid` for another name; `conflict` if there is such a file; `disk_full`, `disk_read_only`
   */
  async add(name: string, text: string): Promise<void> {
    if (!SOURCE.test(name)) {
      throw new MantelError("invalid", `${name.slice(0, 100)} is not a name such as hall-light.ts`);
    }
    const path = join(this.#folder, name);
    try {
      await writeFile(path, text, { mode: 0o600, flag: "wx" });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw asDiskFault(error, path);
      throw new MantelError("conflict", `there is already a file ${name}`, { cause: error });
    }
  }

  /** Writes files for editors. @throws MantelError `invalid` for another name or too much text */
  async describe(files: Readonly<Record<string, unknown>>): Promise<void> {
    for (const [name, text] of Object.entries(files)) {
      if (!DESCRIPTION.test(name) || typeof text !== "string") {
        throw new MantelError("invalid", `${name} is not a name such as home.d.ts with a text`);
      }
      if (text.length > LARGEST_DESCRIPTION) {
        throw new MantelError("invalid", `${name} has more than ${LARGEST_DESCRIPTION} characters`);
      }
      const path = join(this.#folder, name);
      const present = await readFile(path, "utf8").catch(() => undefined);
      const isKept = name === "tsconfig.json" && present !== undefined;
      if (!isKept && present !== text) await writeFile(path, text, { mode: 0o600 });
    }
  }

  close(): void {
    this.#watcher.close();
    this.#listeners.clear();
  }

  #changed(paths: readonly string[]): void {
    const isNewFolder = paths.includes(this.#folder);
    const names = new Set(paths.flatMap((path) => this.#entriesOf(path)));
    for (const name of names) this.#take(name);
    if (isNewFolder || paths.some((path) => !this.#isDescription(path))) this.#look();
    // A file that was missing may be there now.
    const isOther = paths.some((path) => !this.#isEntry(path) && !this.#isDescription(path));
    if (!isOther) return;
    for (const [name, { built }] of this.#files) {
      if (built?.change.kind === "faulty" && !names.has(name)) this.#take(name);
    }
  }

  /** Takes files that are new or gone. */
  #look(): void {
    const present = new Set(namesIn(this.#folder).filter((name) => SOURCE.test(name)));
    for (const name of this.#files.keys()) if (!present.has(name)) this.#delete(name);
    for (const name of present) {
      if (this.#files.has(name)) continue;
      if (this.#files.size < MOST_FILES) this.#take(name);
      else if (!this.#hasWarned) {
        this.#hasWarned = true;
        const fields = { folder: this.#folder, files: MOST_FILES };
        this.#log.warn("a folder has too many files; the others are left out", fields);
      }
    }
  }

  #delete(name: string): void {
    this.#files.delete(name);
    this.#tell({ name, kind: "deleted" });
  }

  /** Builds a file now, or once more after the running build. */
  #take(name: string): void {
    const known = this.#files.get(name);
    const held: Held = known ?? { isDirty: false };
    held.isDirty = true;
    this.#files.set(name, held);
    held.building ??= this.#build(name, held);
  }

  /** Never rejects. */
  async #build(name: string, held: Held): Promise<void> {
    await this.#slots.take();
    while (held.isDirty && this.#files.get(name) === held) {
      held.isDirty = false;
      const built = await compileSource(this.#folder, name);
      if (this.#files.get(name) !== held) break;
      if (!namesIn(this.#folder).includes(name)) {
        this.#delete(name);
        break;
      }
      held.built = built;
      if (built.change.kind === "compiled") held.good = built.change;
      if (!held.isDirty) this.#tell(built.change);
    }
    delete held.building;
    this.#slots.giveBack();
  }

  #tell(change: SourceChange): void {
    for (const listener of this.#listeners) listener(change);
  }

  /** The files that are built from this one. */
  #entriesOf(path: string): string[] {
    return [...this.#files]
      .filter(([name, { built }]) => join(this.#folder, name) === path || built?.inputs.has(path))
      .map(([name]) => name);
  }

  #isEntry(path: string): boolean {
    return dirname(path) === this.#folder && SOURCE.test(path.slice(this.#folder.length + 1));
  }

  #isDescription(path: string): boolean {
    return dirname(path) === this.#folder && DESCRIPTION.test(path.slice(this.#folder.length + 1));
  }
}

function namesIn(folder: string): string[] {
  try {
    const entries = readdirSync(folder, { withFileTypes: true });
    return entries.filter((entry) => !entry.isDirectory()).map(({ name }) => name);
  } catch {
    return []; // it was deleted
  }
}
