import { readFile, rename } from "node:fs/promises";
import { basename } from "node:path";
import type { Log } from "./context.ts";
import { migrated, NewerDocument, type Versions } from "./document-version.ts";
import { writeDurably } from "./durable-file.ts";
import { MantelError } from "./errors.ts";
import { parseJsonText } from "./json-text.ts";
import { SerialQueue } from "./serial-queue.ts";

export interface DocumentOptions<T> extends Partial<Versions> {
  readonly path: string;
  /** Converts the file's content into the document. @throws MantelError `invalid` */
  readonly parse: (value: unknown) => T;
  readonly log: Pick<Log, "info" | "warn" | "error">;
}

/** Read errors that mean a damaged or misplaced file, which can be renamed. Missing permissions are not among them. */
const DAMAGE = new Set(["EISDIR", "EIO"]);

/**
 * One JSON document on the disk. A second file holds the last good content. A damaged document is renamed,
 * never deleted, and restored from the last good content. A document of an older version is migrated, and
 * its old file is kept. A document of a newer version is refused.
 */
export class DocumentFile<T> {
  readonly #path: string;
  readonly #parse: (value: unknown) => T;
  readonly #versions: Versions;
  readonly #log: DocumentOptions<T>["log"];
  readonly #queue = new SerialQueue();
  /** The text that was last written, or read and found valid. */
  #text: string | undefined;

  constructor({ path, parse, log, version = 0, migrations = {} }: DocumentOptions<T>) {
    this.#path = path;
    this.#parse = parse;
    this.#versions = { version, migrations };
    this.#log = log;
  }

  /**
   * Loads the document and restores it when it is damaged. Resolves with `undefined` when the file does not exist,
   * or when it is damaged and has no last good copy.
   * @throws NewerDocument, or Error for a file without read permission; nothing is changed then
   */
  load(): Promise<T | undefined> {
    return this.#queue.take(async () => {
      try {
        const found = await this.#readText(this.#path);
        if (found === undefined) return undefined;
        const document = this.#parse(found.value);
        if (found.isOlder) await this.#replaceOlder(found.text, found.value);
        else await this.#keepLastGood(found.text);
        return document;
      } catch (error) {
        if (!isDamage(error)) throw error;
        return this.#restore(error);
      }
    });
  }

  /**
   * Reads the document from the disk without restoring it; `undefined` when the file does not exist.
   * @throws MantelError `invalid`; nothing is changed then
   */
  read(): Promise<T | undefined> {
    return this.#queue.take(async () => {
      const found = await this.#readText(this.#path);
      if (found === undefined) return undefined;
      const document = this.#parse(found.value);
      this.#text = found.text;
      return document;
    });
  }

  /**
   * True if another program changed the file since it was last read or written here. An empty file counts as
   * unchanged, because an editor may be about to fill it.
   */
  async isEdited(): Promise<boolean> {
    const text = await readText(this.#path);
    return text !== undefined && text.trim() !== "" && text !== this.#text;
  }

  /**
   * Stores the document. Resolves when it would survive a power cut.
   * @throws MantelError `disk_full` or `disk_read_only`; the old document is then intact
   */
  write(document: T): Promise<void> {
    return this.#queue.take(() => this.#write(document));
  }

  /** Renames the file and returns its new path. */
  async setAside(): Promise<string> {
    const keptAs = `${this.#path}.damaged-${new Date().toISOString().replaceAll(":", "-")}`;
    await rename(this.#path, keptAs);
    return keptAs;
  }

  async #write(document: unknown): Promise<void> {
    await this.#writeText(textOf(document));
  }

  async #writeText(text: string): Promise<void> {
    await writeFully(this.#path, text);
    await this.#keepLastGood(text);
  }

  /** Saves valid content as the last good copy. */
  async #keepLastGood(text: string): Promise<void> {
    this.#text = text;
    try {
      const isKept = text === (await readText(this.#lastGood).catch(() => undefined));
      if (!isKept) await writeFully(this.#lastGood, text);
    } catch (error) {
      this.#log.warn("could not save the last good copy", { file: this.#lastGood, error });
    }
  }

  /** Keeps the old file beside the new one, for a downgrade of Mantel. */
  async #replaceOlder(text: string, document: unknown): Promise<void> {
    const keptAs = `${this.#path}.before-version-${this.#versions.version}`;
    await writeFully(keptAs, text);
    await this.#write(document);
    const { version } = this.#versions;
    this.#log.info("migrated a document to a newer version", { file: this.#path, version, keptAs });
  }

  async #restore(damage: MantelError): Promise<T | undefined> {
    const lastGood = await this.#readLastGood();
    const keptAs = await this.setAside();
    if (lastGood !== undefined) await this.#writeText(lastGood.text);
    this.#log.error("damaged document set aside", {
      file: this.#path,
      keptAs,
      used: lastGood === undefined ? "the defaults" : "the last good copy",
      damage: damage.message,
      faults: damage.extras.errors,
    });
    return lastGood?.document;
  }

  async #readLastGood(): Promise<{ text: string; document: T } | undefined> {
    try {
      const kept = await this.#readText(this.#lastGood);
      if (!kept) return undefined;
      const text = kept.isOlder ? textOf(kept.value) : kept.text;
      return { text, document: this.#parse(kept.value) };
    } catch (error) {
      if (error instanceof NewerDocument) throw error;
      this.#log.warn("the last good copy is damaged too", { file: this.#lastGood, error });
      return undefined;
    }
  }

  /** Reads a file and migrates its content to the newest version. */
  async #readText(path: string) {
    const text = await readText(path);
    if (text === undefined) return undefined;
    const name = basename(path);
    const stored = parseJsonText(text, name);
    const value = migrated(stored, this.#versions, name);
    return { text, value, isOlder: value !== stored };
  }

  get #lastGood(): string {
    return `${this.#path}.last-good`;
  }
}

const textOf = (document: unknown): string => `${JSON.stringify(document, undefined, 2)}\n`;

function isDamage(error: unknown): error is MantelError {
  return (
    error instanceof MantelError && error.code === "invalid" && !(error instanceof NewerDocument)
  );
}

/**
 * Reads a file as text; `undefined` when the file does not exist.
 * @throws MantelError `invalid` when the path is a folder or the disk has a read error; Error without read permission
 */
export async function readText(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch (cause) {
    const { code = "" } = cause as NodeJS.ErrnoException;
    if (code === "ENOENT") return undefined;
    if (DAMAGE.has(code)) {
      throw new MantelError("invalid", `${basename(path)} is not a readable file (${code})`, {
        cause,
      });
    }
    const todo = "give the user who runs Mantel access to it";
    throw new Error(`${path} cannot be read (${code}); ${todo}`, { cause });
  }
}

/**
 * Replaces a file durably. Converts a full or read-only disk into an error that is safe to send to a client.
 * @throws MantelError `disk_full` or `disk_read_only`; the old file is then intact
 */
export async function writeFully(path: string, text: string): Promise<void> {
  try {
    await writeDurably(path, text);
  } catch (cause) {
    throw asDiskFault(cause, path);
  }
}

/** Converts the errors of a full or read-only disk to a MantelError, and returns every other error unchanged. */
export function asDiskFault(cause: unknown, path: string): unknown {
  const { code } = cause as NodeJS.ErrnoException;
  const unchanged = `${basename(path)} was not changed`;
  if (code === "ENOSPC" || code === "EDQUOT" || code === "EFBIG") {
    return new MantelError("disk_full", `the disk is full; ${unchanged}`, { cause });
  }
  if (code === "EROFS" || code === "EIO") {
    const detail = `the disk is not writable (${code}); ${unchanged}`;
    return new MantelError("disk_read_only", detail, { cause });
  }
  return cause;
}
