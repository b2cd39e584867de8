import { createHash } from "node:crypto";
import { lstat, mkdir, readFile } from "node:fs/promises";
import { basename, extname } from "node:path";
import { MantelError } from "@mantel/plugin-sdk";
import { watch } from "chokidar";
import { MAX_BYTES } from "./download.ts";
import { Source } from "./source.ts";
import type { Zone } from "./zones.ts";

export interface FolderOptions {
  readonly path: string;
  readonly floating: Zone;
  /** Ids that calendars on the web have. */
  readonly taken: ReadonlySet<string>;
  readonly add: (source: Source) => void;
  readonly remove: (id: string) => void;
  readonly changed: (source: Source) => void;
  readonly onFault: (error: unknown) => void;
}

/** Programs write a file in several steps, so it is read when it has rested for this long. */
const REST_MS = 100;

/**
 * Makes a source of every `.ics` file in a folder, and follows the folder. Resolves when the files
 * that are there have been read; the function it gives ends the watch.
 */
export async function followFolder(options: FolderOptions): Promise<() => Promise<void>> {
  await mkdir(options.path, { recursive: true, mode: 0o700 });
  const files = new Files(options);
  const watcher = watch(options.path, {
    depth: 0,
    followSymlinks: false,
    ignored: (path, stats) => stats?.isFile() === true && !isCalendar(path),
  });
  const found: string[] = [];
  const findFirst = (path: string) => void found.push(path);
  watcher.on("add", findFirst);
  watcher.on("error", options.onFault);
  await new Promise<void>((resolve) => watcher.once("ready", resolve));
  watcher.off("add", findFirst);
  for (const event of ["add", "change"] as const) watcher.on(event, (path) => files.settle(path));
  watcher.on("unlink", (path) => files.remove(path));
  await Promise.all(found.map((path) => files.read(path)));
  return async () => {
    await watcher.close();
    await files.close();
  };
}

function isCalendar(path: string): boolean {
  return extname(path).toLowerCase() === ".ics" && !basename(path).startsWith(".");
}

class Files {
  readonly #options: FolderOptions;
  readonly #sources = new Map<string, Source>();
  readonly #resting = new Map<string, NodeJS.Timeout>();
  /** Files are read one after the other, so that an older content never replaces a newer one. */
  #reading: Promise<void> = Promise.resolve();

  constructor(options: FolderOptions) {
    this.#options = options;
  }

  settle(path: string): void {
    clearTimeout(this.#resting.get(path));
    this.#resting.set(
      path,
      setTimeout(() => void this.read(path), REST_MS),
    );
  }

  async close(): Promise<void> {
    for (const timer of this.#resting.values()) clearTimeout(timer);
    await this.#reading;
  }

  read(path: string): Promise<void> {
    this.#resting.delete(path);
    this.#reading = this.#reading.then(() => this.#read(path));
    return this.#reading;
  }

  async #read(path: string): Promise<void> {
    const source = this.#sources.get(path) ?? this.#create(path);
    try {
      await source.read(await readCalendar(path), new Date());
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return this.remove(path);
      const known = error instanceof MantelError;
      if (!known) this.#options.onFault(error);
      source.fail(known ? error.message : "the file cannot be read");
    }
    this.#options.changed(source);
  }

  remove(path: string): void {
    clearTimeout(this.#resting.get(path));
    const source = this.#sources.get(path);
    this.#sources.delete(path);
    if (source) this.#options.remove(source.id);
  }

  #create(path: string): Source {
    const name = basename(path, extname(path));
    const source = new Source({
      id: this.#idOf(name),
      fallbackName: name,
      floating: this.#options.floating,
    });
    this.#sources.set(path, source);
    this.#options.add(source);
    return source;
  }

  /** The file's name in the letters of an id; when that is taken, with a hash of the name. */
  #idOf(name: string): string {
    const slug = name
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, "-")
      .replace(/^-|-$/g, "")
      .slice(0, 50);
    const taken = new Set([
      ...this.#options.taken,
      ...[...this.#sources.values()].map(({ id }) => id),
    ]);
    if (slug !== "" && !taken.has(slug)) return slug;
    const hash = createHash("sha256").update(name).digest("hex").slice(0, 8);
    return slug === "" ? hash : `${slug}-${hash}`;
  }
}

async function readCalendar(path: string): Promise<Uint8Array> {
  const stats = await lstat(path);
  if (!stats.isFile()) throw new MantelError("invalid", "this is no file: links are not followed");
  if (stats.size > MAX_BYTES) {
    throw new MantelError(
      "invalid",
      `the file has ${stats.size} bytes: at most ${MAX_BYTES} are read`,
    );
  }
  return readFile(path);
}
