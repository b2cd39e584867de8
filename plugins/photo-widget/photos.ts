import type { Dirent } from "node:fs";
import { lstat, mkdir, readdir, rm, rmdir } from "node:fs/promises";
import { basename, dirname, extname, join } from "node:path";
import { asDiskFault, MantelError, sweepTemporaryFiles, writeDurably } from "@mantel/plugin-sdk";

/** The most files listed; a very large folder is listed in part. */
const MAX_FILES = 5_000;
/** Larger files are not suitable for a wall, and screens would load them into memory. */
const MAX_BYTES = 64 * 2 ** 20;
/** The longest name: file systems keep 255 bytes, and a file has a longer name while it is written. */
const MAX_NAME_BYTES = 200;
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

/** The file of a picture. */
export interface PhotoFile {
  readonly path: string;
  readonly type: string;
}

/** A picture of a folder. */
export interface Photo {
  readonly name: string;
  /** The folder in the folder of pictures that it is in; absent for that folder itself. */
  readonly album?: string;
  /** The last change of the file, RFC 3339. */
  readonly changedAt: string;
}

/** The pictures now in a folder and in its folders, the albums. Folders in albums are left out. */
export class Photos {
  readonly #folder: string;

  private constructor(folder: string) {
    this.#folder = folder;
  }

  /** Creates the folder, so that users find it. */
  static async open(folder: string): Promise<Photos> {
    const photos = new Photos(folder);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    for (const album of ["", ...(await photos.#albums())])
      await sweepTemporaryFiles(join(folder, album));
    return photos;
  }

  /** By album and name, without links; those outside albums come first. */
  async list(): Promise<Photo[]> {
    const photos: Photo[] = [];
    for (const album of ["", ...(await this.#albums())]) {
      for (const name of (await this.#namesIn(album)).slice(0, MAX_FILES - photos.length)) {
        const found = await lstat(join(this.#folder, album, name)).catch(() => undefined);
        if (!found?.isFile()) continue;
        photos.push({ name, ...(album !== "" && { album }), changedAt: found.mtime.toISOString() });
      }
    }
    return photos;
  }

  /**
   * Adds a picture, or replaces the one of this name. An album that does not exist is created. Nothing is left of a
   * picture that could not be written.
   * @throws MantelError `invalid` if a picture or an album cannot have that name, `unsupported_media_type` if the content
   * is not of the type in the name, `conflict` if there are too many pictures, `disk_full`, `disk_read_only`
   */
  async write(name: string, content: Uint8Array, album = ""): Promise<void> {
    const type = typeOf(name);
    if (type === undefined || !isName(name)) {
      const ends = Object.keys(TYPES).join(", ");
      throw new MantelError(
        "invalid",
        `${name} is not the name of a picture: it has to end in ${ends}`,
      );
    }
    if (album !== "") await this.#checkAlbum(album);
    if (!STARTS[type]?.test(Buffer.from(content.subarray(0, 16)).toString("latin1"))) {
      throw new MantelError(
        "unsupported_media_type",
        `${name} does not contain a picture of the type ${type}`,
      );
    }
    if (!(await this.#namesIn(album)).includes(name) && (await this.#count()) >= MAX_FILES) {
      throw new MantelError("conflict", `there are ${MAX_FILES} pictures already; remove some`);
    }
    const path = join(this.#folder, album, name);
    try {
      await mkdir(dirname(path), { recursive: true, mode: 0o700 });
      await writeDurably(path, content);
    } catch (error) {
      throw asDiskFault(error, path);
    }
  }

  /**
   * Removes a picture; with its last picture an album is removed too.
   * @throws MantelError `not_found` for files that are not pictures in the folder itself or in an album
   */
  async remove(name: string, album = ""): Promise<void> {
    const folder = await this.#folderOf(album);
    if (!folder || !(await this.#namesIn(album)).includes(name)) throw this.#unknown(name, album);
    await rm(join(folder, name), { force: true });
    if (album !== "") await rmdir(folder).catch(() => undefined); // it has other files
  }

  /** @throws MantelError `not_found` for files that `list` does not have, or that are too large */
  async find(name: string, album = ""): Promise<PhotoFile> {
    const type = typeOf(name);
    const folder = await this.#folderOf(album);
    if (type === undefined || !folder || !isName(name)) throw this.#unknown(name, album);
    const path = join(folder, name);
    const found = await lstat(path).catch(() => undefined);
    if (!found?.isFile() || found.size > MAX_BYTES) throw this.#unknown(name, album);
    return { path, type };
  }

  async #count(): Promise<number> {
    let count = 0;
    for (const album of ["", ...(await this.#albums())])
      count += (await this.#namesIn(album)).length;
    return count;
  }

  async #albums(): Promise<string[]> {
    const entries = await readdir(this.#folder, { withFileTypes: true }).catch(() => []);
    return sorted(entries.filter((entry) => entry.isDirectory() && isName(entry.name)));
  }

  async #namesIn(album: string): Promise<string[]> {
    const folder = join(this.#folder, album);
    const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
    return sorted(entries.filter((entry) => entry.isFile() && typeOf(entry.name) !== undefined));
  }

  /** The folder of an album; `undefined` if the album does not exist or is a link. */
  async #folderOf(album: string): Promise<string | undefined> {
    if (album === "") return this.#folder;
    const folder = join(this.#folder, album);
    const found = isName(album) ? await lstat(folder).catch(() => undefined) : undefined;
    return found?.isDirectory() ? folder : undefined;
  }

  /** @throws MantelError `invalid` if the album cannot have that name */
  async #checkAlbum(album: string): Promise<void> {
    const cannot = (why: string) =>
      new MantelError("invalid", `${album} cannot be an album: ${why}`);
    if (!isName(album)) {
      throw cannot(
        `choose a name of at most ${MAX_NAME_BYTES} bytes without slashes that does not begin with a dot`,
      );
    }
    const found = await lstat(join(this.#folder, album)).catch(() => undefined);
    if (found && !found.isDirectory()) throw cannot("a file or a link has this name");
  }

  #unknown(name: string, album: string): MantelError {
    const folder = join(basename(this.#folder), album);
    return new MantelError("not_found", `no picture ${name} in the folder ${folder}`);
  }
}

function sorted(entries: readonly Dirent[]): string[] {
  return entries.map(({ name }) => name).toSorted((a, b) => a.localeCompare(b));
}

function typeOf(name: string): string | undefined {
  const end = extname(name).toLowerCase();
  return Object.hasOwn(TYPES, end) && !name.startsWith(".") ? TYPES[end] : undefined;
}

/** True for a name of a file or a folder in this folder that is not hidden. */
function isName(name: string): boolean {
  return !/^\.|[/\\\0]/.test(name) && Buffer.byteLength(name) <= MAX_NAME_BYTES;
}
