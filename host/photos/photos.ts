import { constants } from "node:fs";
import { type FileHandle, lstat, mkdir, open, readdir, rm } from "node:fs/promises";
import { extname, join } from "node:path";
import { asDiskFault } from "@mantel/plugin-sdk/document-file";
import { sweepTemporaryFiles, writeDurably } from "@mantel/plugin-sdk/durable-file";
import { MantelError } from "@mantel/plugin-sdk/errors";

const FOLDER = "photos";
/** The most files listed; a very large folder is listed in part. */
const MAX_FILES = 5_000;
/** Larger files are not suitable for a wall, and screens would load them into memory. */
const MAX_BYTES = 64 * 2 ** 20;
/** The longest name: file systems keep 255 bytes, and a file has a longer name while it is written. */
const MAX_NAME_BYTES = 200;
/** The largest picture that is taken in over HTTP. The dashboard makes pictures smaller before it sends them. */
export const MAX_UPLOAD_BYTES = 16 * 2 ** 20;
/** Types that browsers draw. SVG is excluded: it may contain scripts. */
const TYPES: Readonly<Record<string, string>> = {
  ".jpg": "image/jpeg",
  ".jpeg": "image/jpeg",
  ".png": "image/png",
  ".webp": "image/webp",
  ".avif": "image/avif",
  ".gif": "image/gif",
};

/** The first bytes of each type, as Latin-1; `.` stands for any byte. */
const STARTS: Readonly<Record<string, RegExp>> = {
  "image/jpeg": /^\xff\xd8\xff/,
  "image/png": /^\x89PNG\r\n/,
  "image/webp": /^RIFF....WEBP/s,
  "image/avif": /^....ftypavi[fs]/s,
  "image/gif": /^GIF8[79]a/,
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
    await sweepTemporaryFiles(folder);
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

  /**
   * Adds a picture, or replaces the one of this name. Nothing is left of one that could not be written.
   * @throws MantelError `invalid` for a name that is none of a picture, `unsupported_media_type` if the content is not
   * of the type in the name, `conflict` if the folder is full, `disk_full`, `disk_read_only`
   */
  async write(name: string, content: Buffer): Promise<void> {
    const type = typeOf(name);
    if (type === undefined || isOutside(name) || Buffer.byteLength(name) > MAX_NAME_BYTES) {
      const ends = Object.keys(TYPES).join(", ");
      throw new MantelError(
        "invalid",
        `${name} is not the name of a picture: it has to end in ${ends}`,
      );
    }
    if (!STARTS[type]?.test(content.toString("latin1", 0, 16))) {
      throw new MantelError(
        "unsupported_media_type",
        `${name} does not contain a picture of the type ${type}`,
      );
    }
    const names = await this.list();
    if (names.length >= MAX_FILES && !names.includes(name)) {
      throw new MantelError("conflict", `there are ${MAX_FILES} pictures already; remove some`);
    }
    const path = join(this.#folder, name);
    try {
      await mkdir(this.#folder, { recursive: true, mode: 0o700 });
      await writeDurably(path, content);
    } catch (error) {
      throw asDiskFault(error, path);
    }
  }

  /** @throws MantelError `not_found` for files that are not pictures in the folder itself */
  async remove(name: string): Promise<void> {
    if (!(await this.list()).includes(name)) throw unknown(name);
    await rm(join(this.#folder, name), { force: true });
  }

  /** @throws MantelError `not_found` for files that are not pictures in the folder itself, or are too large */
  async read(name: string): Promise<OpenPhoto> {
    const type = typeOf(name);
    const path = join(this.#folder, name);
    if (type === undefined || isOutside(name)) throw unknown(name);
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

function isOutside(name: string): boolean {
  return /[/\\\0]/.test(name);
}

function unknown(name: string): MantelError {
  return new MantelError("not_found", `no picture ${name} in the folder ${FOLDER}`);
}
