import { mkdir, readFile, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { findStat } from "./safe-stat.ts";

/** The compiler of all builds; another version produces other code. */
const COMPILER = createRequire(import.meta.url).resolve("esbuild/package.json");

/** File timestamps come from a clock that may lag behind by one tick of the kernel (100 Hz at the slowest). */
const CLOCK_TICK_MS = 10;

/** The input files of a value, as absolute paths. The builder's own source may be one of them. */
export interface Sources {
  /** The entry it was built for: another entry has another value. */
  readonly entry: string;
  readonly inputs: Iterable<string>;
  /** The start of the build, in ms since 1970. */
  readonly startedAt: number;
}

interface CacheEntry {
  readonly entry: string;
  /** The state of each input when the value was built. */
  readonly inputs: Readonly<Record<string, string>>;
  readonly value: unknown;
}

/**
 * Cached build results, valid until one of their input files changes, so that a host that starts
 * with unchanged files compiles nothing. A damaged or unwritable record counts as missing.
 */
export class BuildCache {
  readonly #folder: string;

  constructor(cacheFolder: string) {
    this.#folder = join(cacheFolder, "built");
  }

  /** The cached value of `name`, or the result of `make`, which is then cached. It has to be JSON. */
  async orMake<T>(
    name: string,
    entry: string,
    make: () => Promise<{ value: T; inputs: Iterable<string> }>,
  ): Promise<T> {
    const cached = await this.find<T>(name, entry);
    if (cached !== undefined) return cached;
    const startedAt = Date.now();
    const { value, inputs } = await make();
    await this.keep(name, { entry, inputs, startedAt }, value);
    return value;
  }

  /** The cached value of `name`, if all its input files are unchanged. */
  async find<T>(name: string, entry: string): Promise<T | undefined> {
    const cached = parse(await readFile(this.#path(name), "utf8").catch(() => "null"));
    if (cached?.entry !== entry) return undefined;
    const isSame = Object.entries(cached.inputs).every(
      ([file, look]) => lookOf(file)?.look === look,
    );
    return isSame ? (cached.value as T) : undefined;
  }

  /** Caches a value, unless a file has changed since the build began: the value may not contain that change. */
  async keep(name: string, { entry, inputs, startedAt }: Sources, value: unknown): Promise<void> {
    const files = new Set([...inputs, COMPILER]);
    const looks: Record<string, string> = {};
    for (const file of files) {
      const found = lookOf(file);
      if (!found || found.changedAt > startedAt - CLOCK_TICK_MS) return;
      looks[file] = found.look;
    }
    const cached: CacheEntry = { entry, inputs: looks, value };
    await mkdir(this.#folder, { recursive: true })
      .then(() => writeFile(this.#path(name), JSON.stringify(cached)))
      .catch(() => undefined); // the next start builds again
  }

  #path(name: string): string {
    return join(this.#folder, `${name}.json`);
  }
}

interface Look {
  readonly look: string;
  readonly changedAt: number;
}

/**
 * The change time moves with every write and rename, and no program can set it (inode(7)). It is read synchronously:
 * a plugin has a hundred files, and a promise for each takes twenty times as long.
 */
function lookOf(file: string): Look | undefined {
  const found = findStat(file);
  return found && { look: `${found.ctimeMs} ${found.size}`, changedAt: found.ctimeMs };
}

function parse(text: string): CacheEntry | undefined {
  try {
    return (JSON.parse(text) as CacheEntry | null) ?? undefined;
  } catch {
    return undefined; // truncated by a crash
  }
}
