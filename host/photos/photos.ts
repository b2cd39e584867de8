import { constants } from "node:fs";
import { type FileHandle, lstat, mkdir, open, readdir } from "node:fs/promises";
import { extname, join } from "node:path";
import { MantelError } from "@mantel/plugin-sdk/errors";

const FOLDER = "photos";
/** The most files listed; a very large folder is listed in part. */
const MAX_FILES = 5_000;
/** Larger files are not suitable for a wall, and screens would load them into memory. */
const MAX_BYTES = 64 * 2 ** 20;
/** Types that browsers draw. SVG is excluded: it may contain scripts. */
const TYPES: Readonly<Record<string, string>> = {
  ".jpg": "image/jpeg",
  ".jpeg": "image/jpeg",
  ".png": "image/png",
  ".webp": "image/webp",
  ".avif": "image/avif",
  ".gif": "image/gif",
};

/** An open picture. The caller closes the file. */
export interface OpenPhoto {
  readonly file: FileHandle;
  readonly bytes: number;
  readonly type: string;
}

/** The pictures now in `<data>/photos`. */
export class Photos {
  readonly #folder: string;

  private constructor(folder: string) {
    this.#folder = folder;
  }

  /** Creates the folder, so that users find it. */
  static async open(dataFolder: string): Promise<Photos> {
    const folder = join(dataFolder, FOLDER);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    return new Photos(folder);
  }

  /** File names in alphabetical order, without links and folders. */
  async list(): Promise<string[]> {
    const entries = await readdir(this.#folder, { withFileTypes: true }).catch(() => []);
    return entries
      .filter((entry) => entry.isFile() && typeOf(entry.name) !== undefined)
      .map(({ name }) => name)
      .toSorted((a, b) => a.localeCompare(b))
      .slice(0, MAX_FILES);
  }

  /** @throws MantelError `not_found` for files that are not pictures in the folder itself, or are too large */
  async read(name: string): Promise<OpenPhoto> {
    const type = typeOf(name);
    const path = join(this.#folder, name);
    if (type === undefined || /[/\\\0]/.test(name)) throw unknown(name);
    const found = await lstat(path).catch(() => undefined);
    if (!found?.isFile() || found.size > MAX_BYTES) throw unknown(name);
    // A link that has replaced it in the meantime is not followed.
    const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW).catch(() => undefined);
    if (!file) throw unknown(name);
    return { file, bytes: found.size, type };
  }
}

function typeOf(name: string): string | undefined {
  const end = extname(name).toLowerCase();
  return Object.hasOwn(TYPES, end) && !name.startsWith(".") ? TYPES[end] : undefined;
}

function unknown(name: string): MantelError {
  return new MantelError("not_found", `no picture ${name} in the folder ${FOLDER}`);
}
