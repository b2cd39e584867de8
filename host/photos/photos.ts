import { constants } from "node:fs";
import { type FileHandle, lstat, mkdir, open, readdir } from "node:fs/promises";
import { extname, join } from "node:path";
import { MantelError } from "@mantel/plugin-sdk/errors";

const FOLDER = "photos";
/** A folder of a life's pictures is listed in part. */
const MAX_FILES = 5_000;
/** Larger files are no pictures for a wall, and screens would hold them in memory whole. */
const MAX_BYTES = 64 * 2 ** 20;
/** What browsers draw. SVG is left out: it may hold scripts. */
const TYPES: Readonly<Record<string, string>> = {
  ".jpg": "image/jpeg",
  ".jpeg": "image/jpeg",
  ".png": "image/png",
  ".webp": "image/webp",
  ".avif": "image/avif",
  ".gif": "image/gif",
};

/** A picture to be sent. Whoever has it closes the file. */
export interface OpenPhoto {
  readonly file: FileHandle;
  readonly bytes: number;
  readonly type: string;
}

/** The pictures in `<data>/photos`, as they are there now. */
export class Photos {
  readonly #folder: string;

  private constructor(folder: string) {
    this.#folder = folder;
  }

  /** Makes the folder, so that people find it. */
  static async open(dataFolder: string): Promise<Photos> {
    const folder = join(dataFolder, FOLDER);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    return new Photos(folder);
  }

  /** File names in the order of the alphabet. Links and folders are left out. */
  async list(): Promise<string[]> {
    const entries = await readdir(this.#folder, { withFileTypes: true }).catch(() => []);
    return entries
      .filter((entry) => entry.isFile() && typeOf(entry.name) !== undefined)
      .map(({ name }) => name)
      .toSorted((a, b) => a.localeCompare(b))
      .slice(0, MAX_FILES);
  }

  /** @throws MantelError `not_found` for what is no picture in the folder itself, or is too large */
  async read(name: string): Promise<OpenPhoto> {
    const type = typeOf(name);
    const path = join(this.#folder, name);
    if (type === undefined || /[/\\\0]/.test(name)) throw unknown(name);
    const found = await lstat(path).catch(() => undefined);
    if (!found?.isFile() || found.size > MAX_BYTES) throw unknown(name);
    // Should it become a link in between, it is not followed.
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
  return new MantelError("not_found", `there is no picture ${name} in the folder ${FOLDER}`);
}
