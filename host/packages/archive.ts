import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { createGunzip } from "node:zlib";
import { MantelError } from "@mantel/plugin-sdk/errors";
import type { ReadEntry } from "tar";
import { foldedPath, printableName } from "../file-names.ts";

/** Bounds of a plugin's archive, without its dependencies. */
export const ARCHIVE_LIMITS = {
  packedBytes: 32 * 2 ** 20,
  unpackedBytes: 96 * 2 ** 20,
  files: 5_000,
  depth: 24,
  pathBytes: 500,
  segmentBytes: 200,
} as const;
type ArchiveLimits = { readonly [L in keyof typeof ARCHIVE_LIMITS]: number };

/** The headers and the padding of each entry come on top of its content. */
const ENTRY_OVERHEAD_BYTES = 4 * 2 ** 10;
const FILES: ReadonlySet<string> = new Set(["File", "OldFile", "ContiguousFile"]);
/** The first bytes of gzip (RFC 1952) and zstd (RFC 8878) inside of the unpacked archive. */
const COMPRESSED = [Buffer.from([0x1f, 0x8b]), Buffer.from([0x28, 0xb5, 0x2f, 0xfd])];

/** One file of an archive. */
export interface ArchiveFile {
  readonly bytes: Buffer;
  readonly isExecutable: boolean;
}

/**
 * Reads a package archive (gzipped tar) and checks all of it: sizes, depth, kinds of entries and names. Returns the
 * files by their path below the archive's top folder. Nothing is written.
 * @throws MantelError `install_failed`, with the entry and the reason
 */
export async function readArchive(
  file: string,
  limits: ArchiveLimits = ARCHIVE_LIMITS,
): Promise<ReadonlyMap<string, ArchiveFile>> {
  if ((await stat(file)).size > limits.packedBytes) {
    throw refused(`it is larger than ${mebibytes(limits.packedBytes)}`);
  }
  const { Parser } = await import("tar");
  const contents = new Contents(limits);
  const parser = new Parser({ strict: true, onReadEntry: (entry) => contents.take(entry) });
  const failure = new Promise<never>((_, reject) => parser.on("error", reject));
  failure.catch(() => undefined); // seen below, unless a bound was passed before
  const ended = new Promise<void>((done) => parser.on("end", done));
  try {
    await unpack(file, limits, (chunk) => {
      parser.write(chunk);
      if (contents.fault) throw contents.fault;
    });
    parser.end();
    await Promise.race([ended, failure]);
  } catch (error) {
    if (error instanceof MantelError) throw error;
    throw refused(`it is damaged (${(error as Error).message})`, error);
  }
  if (contents.fault) throw contents.fault;
  if (contents.files.size === 0) throw refused("it is damaged, or contains no files");
  return contents.files;
}

async function unpack(
  file: string,
  limits: ArchiveLimits,
  write: (chunk: Buffer) => void,
): Promise<void> {
  const most = limits.unpackedBytes + limits.files * ENTRY_OVERHEAD_BYTES;
  let bytes = 0;
  const packed = createReadStream(file);
  const unpacked = packed.pipe(createGunzip());
  packed.on("error", (error) => unpacked.destroy(error));
  try {
    for await (const chunk of unpacked as AsyncIterable<Buffer>) {
      const isCompressed = COMPRESSED.some((start) =>
        chunk.subarray(0, start.length).equals(start),
      );
      if (bytes === 0 && isCompressed) throw refused("it is compressed twice");
      bytes += chunk.length;
      if (bytes > most) throw refused(`it has more than ${mebibytes(limits.unpackedBytes)}`);
      write(chunk);
    }
  } finally {
    packed.destroy();
  }
}

/** The entries of an archive, as far as they are read. The first fault ends the reading. */
class Contents {
  readonly files = new Map<string, ArchiveFile>();
  fault: MantelError | undefined;
  readonly #limits: ArchiveLimits;
  /** Files and folders by their names on a file system that ignores case. */
  readonly #kinds = new Map<string, "file" | "folder">();
  #bytes = 0;

  constructor(limits: ArchiveLimits) {
    this.#limits = limits;
  }

  take(entry: ReadEntry): void {
    this.fault ??= this.#faultOf(entry);
    if (this.fault || !FILES.has(entry.type)) {
      entry.resume();
      return;
    }
    const path = pathInside(entry.path);
    const chunks: Buffer[] = [];
    entry.on("data", (chunk: Buffer) => chunks.push(Buffer.from(chunk)));
    entry.on("end", () => {
      const isExecutable = ((entry.mode ?? 0) & 0o111) !== 0;
      this.files.set(path, { bytes: Buffer.concat(chunks), isExecutable });
    });
  }

  #faultOf(entry: ReadEntry): MantelError | undefined {
    const { path, type, size } = entry;
    const name = printableName(path);
    if (type !== "Directory" && !FILES.has(type)) {
      return refused(`${name} is not a file or folder but a ${wordFor(type)}`);
    }
    const reason = nameFault(path, this.#limits);
    if (reason !== undefined) return refused(`${name} ${reason}`);
    const inside = pathInside(path);
    if (type === "Directory") return inside === "" ? undefined : this.#addFolders(`${inside}/x`);
    if (inside === "") return refused(`${name} is outside its top folder`);
    this.#bytes += size;
    if (this.#bytes > this.#limits.unpackedBytes) {
      return refused(`it has more than ${mebibytes(this.#limits.unpackedBytes)}`);
    }
    const key = foldedPath(inside);
    if (this.#kinds.has(key))
      return refused(`it contains ${name} twice; upper case counts as lower case`);
    this.#kinds.set(key, "file");
    if (this.#kinds.size > this.#limits.files) {
      return refused(`it has more than ${this.#limits.files} files and folders`);
    }
    return this.#addFolders(inside);
  }

  #addFolders(path: string): MantelError | undefined {
    const segments = path.split("/").slice(0, -1);
    for (let depth = 1; depth <= segments.length; depth++) {
      const folder = segments.slice(0, depth).join("/");
      const key = foldedPath(folder);
      if (this.#kinds.get(key) === "file") {
        return refused(`${printableName(folder)} is both a file and a folder`);
      }
      this.#kinds.set(key, "folder");
    }
    return undefined;
  }
}

/** The path below the top folder, which npm calls `package` and git services name after the repository. */
function pathInside(path: string): string {
  return path.replace(/\/$/, "").split("/").slice(1).join("/");
}

function nameFault(path: string, limits: ArchiveLimits): string | undefined {
  if (path.startsWith("/") || /^[A-Za-z]:/.test(path)) return "is an absolute path";
  const segments = path.replace(/\/$/, "").split("/");
  if (segments.includes("..")) return "leads out of the folder";
  if (segments.some((each) => each === "" || each === ".")) return "is not a plain path";
  if (/[\\\p{Cc}\p{Cf}]/u.test(path)) return "has a character that file names must not have";
  if (segments.length > limits.depth) return `is more than ${limits.depth} folders deep`;
  const isLong = segments.some((each) => Buffer.byteLength(each) > limits.segmentBytes);
  if (isLong || Buffer.byteLength(path) > limits.pathBytes) return "is too long";
  return undefined;
}

const WORDS: Readonly<Record<string, string>> = {
  Link: "hard link",
  SymbolicLink: "link",
  CharacterDevice: "device file",
  BlockDevice: "device file",
  FIFO: "named pipe",
};

const wordFor = (type: string): string => WORDS[type] ?? `${type} entry`;

const mebibytes = (bytes: number): string => `${Math.round(bytes / 2 ** 20)} MiB`;

function refused(reason: string, cause?: unknown): MantelError {
  return new MantelError(
    "install_failed",
    `the package's archive is refused: ${reason}; nothing was written`,
    { cause },
  );
}
