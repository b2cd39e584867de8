import { readFile, rename } from "node:fs/promises";
import { basename } from "node:path";
import type { Log } from "./context.ts";
import { migrated, NewerDocument, type Versions } from "./document-version.ts";
import { writeDurably } from "./durable-file.ts";
import { MantelError } from "./errors.ts";
import { parseJsonText } from "./json-text.ts";
import { Turns } from "./turns.ts";

export interface DocumentOptions<T> extends Partial<Versions> {
  readonly path: string;
  /** Turns what the file holds into the document. @throws MantelError `invalid` */
  readonly parse: (value: unknown) => T;
  readonly log: Pick<Log, "info" | "warn" | "error">;
}

/** What is in the way of a file, or of what it held, and can be moved: no right of ours is missing. */
const DAMAGE = new Set(["EISDIR", "EIO"]);

/**
 * One JSON document on the disk. The last good content is kept in a second file, from which a
 * damaged document is restored; the damaged one is set aside and never deleted. A document of an
 * earlier version is migrated, and the earlier one is kept; one of a later version is refused.
 */
export class DocumentFile<T> {
  readonly #path: string;
  readonly #parse: (value: unknown) => T;
  readonly #versions: Versions;
  readonly #log: DocumentOptions<T>["log"];
  readonly #turns = new Turns();
  /** The text that was last read as good or written. */
  #text: string | undefined;

  constructor({ path, parse, log, version = 0, migrations = {} }: DocumentOptions<T>) {
    this.#path = path;
    this.#parse = parse;
    this.#versions = { version, migrations };
    this.#log = log;
  }

  /**
   * The document, restored when it is damaged; `undefined` when there is none and none was kept.
   * @throws NewerDocument, and Error for a file that may not be read; nothing is changed then
   */
  load(): Promise<T | undefined> {
    return this.#turns.take(async () => {
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
   * The document as it is on the disk now, or `undefined` when there is none.
   * @throws MantelError `invalid`; nothing is changed then
   */
  read(): Promise<T | undefined> {
    return this.#turns.take(async () => {
      const found = await this.#readText(this.#path);
      if (found === undefined) return undefined;
      const document = this.#parse(found.value);
      this.#text = found.text;
      return document;
    });
  }

  /**
   * True when the file holds something else than was last read or written here. An empty file counts
   * as one that an editor is about to fill.
   */
  async isEdited(): Promise<boolean> {
    const text = await readText(this.#path);
    return text !== undefined && text.trim() !== "" && text !== this.#text;
  }

  /**
   * Stores the document, and resolves when it would outlast a power cut.
   * @throws MantelError `disk_full`, `disk_read_only`; the old document is intact then
   */
  write(document: T): Promise<void> {
    return this.#turns.take(() => this.#write(document));
  }

  /** Moves the file out of the way and gives its new path. */
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

  /** Keeps content that is good, to restore it from. */
  async #keepLastGood(text: string): Promise<void> {
    this.#text = text;
    try {
      const isKept = text === (await readText(this.#lastGood).catch(() => undefined));
      if (!isKept) await writeFully(this.#lastGood, text);
    } catch (error) {
      this.#log.warn("the copy to restore from was not written", { file: this.#lastGood, error });
    }
  }

  /** A program that goes back to the earlier version finds its document beside the new one. */
  async #replaceOlder(text: string, document: unknown): Promise<void> {
    const keptAs = `${this.#path}.before-version-${this.#versions.version}`;
    await writeFully(keptAs, text);
    await this.#write(document);
    const { version } = this.#versions;
    this.#log.info("a document was brought up to date", { file: this.#path, version, keptAs });
  }

  async #restore(damage: MantelError): Promise<T | undefined> {
    const lastGood = await this.#readLastGood();
    const keptAs = await this.setAside();
    if (lastGood !== undefined) await this.#writeText(lastGood.text);
    this.#log.error("a damaged document was set aside", {
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
      this.#log.warn("the copy to restore from is damaged too", { file: this.#lastGood, error });
      return undefined;
    }
  }

  /** What a file holds, in the newest version. */
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
 * The text of a file, or `undefined` when there is none.
 * @throws MantelError `invalid` for what is no file or broken on the disk; Error when it may not be read
 */
export async function readText(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch (cause) {
    const { code = "" } = cause as NodeJS.ErrnoException;
    if (code === "ENOENT") return undefined;
    if (DAMAGE.has(code)) {
      throw new MantelError("invalid", `${basename(path)} is no file that can be read (${code})`, {
        cause,
      });
    }
    const todo = "give the user who runs Mantel access to it";
    throw new Error(`${path} cannot be read (${code}); ${todo}`, { cause });
  }
}

/**
 * Writes durably, and turns a disk that takes nothing into an error that a client may see.
 * @throws MantelError `disk_full`, `disk_read_only`; the old file is intact then
 */
export async function writeFully(path: string, text: string): Promise<void> {
  try {
    await writeDurably(path, text);
  } catch (cause) {
    throw asDiskFault(cause, path);
  }
}

/** The failure of a write, as a client may see it where the disk takes nothing, and else as it is. */
export function asDiskFault(cause: unknown, path: string): unknown {
  const { code } = cause as NodeJS.ErrnoException;
  const asBefore = `${basename(path)} is as it was`;
  if (code === "ENOSPC" || code === "EDQUOT") {
    return new MantelError("disk_full", `the disk is full; ${asBefore}`, { cause });
  }
  if (code === "EROFS" || code === "EIO") {
    const detail = `the disk takes no writes (${code}); ${asBefore}`;
    return new MantelError("disk_read_only", detail, { cause });
  }
  return cause;
}
