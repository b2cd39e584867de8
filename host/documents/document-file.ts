import { readFile, rename } from "node:fs/promises";
import { basename } from "node:path";
import { writeDurably } from "@mantel/plugin-sdk/durable-file";
import { MantelError } from "@mantel/plugin-sdk/errors";
import type { HostLog } from "../log.ts";
import { parseJsonText } from "./json-text.ts";

export interface DocumentOptions<T> {
  readonly path: string;
  /** Turns what the file holds into the document. @throws MantelError `invalid` */
  readonly parse: (value: unknown) => T;
  readonly log: HostLog;
}

/**
 * One JSON document on the disk. The last good content is kept in a second file, from which a
 * damaged document is restored; the damaged one is set aside and never deleted.
 */
export class DocumentFile<T> {
  readonly #path: string;
  readonly #parse: (value: unknown) => T;
  readonly #log: HostLog;
  /** The text that was last read as good or written. */
  #text: string | undefined;

  constructor({ path, parse, log }: DocumentOptions<T>) {
    this.#path = path;
    this.#parse = parse;
    this.#log = log;
  }

  /** The document, restored when it is damaged; `undefined` when there is none and none was kept. */
  async load(): Promise<T | undefined> {
    try {
      const document = await this.read();
      if (document !== undefined) await this.#keepLastGood();
      return document;
    } catch (error) {
      if (!(error instanceof MantelError) || error.code !== "invalid") throw error;
      return this.#restore(error);
    }
  }

  /**
   * The document as it is on the disk now, or `undefined` when there is none.
   * @throws MantelError `invalid`; nothing is changed then
   */
  async read(): Promise<T | undefined> {
    const text = await readText(this.#path);
    if (text === undefined) return undefined;
    const document = this.#parse(parseJsonText(text, basename(this.#path)));
    this.#text = text;
    return document;
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
   * @throws MantelError `disk_full`; the old document is intact then
   */
  async write(document: T): Promise<void> {
    const text = `${JSON.stringify(document, undefined, 2)}\n`;
    await writeFully(this.#path, text);
    this.#text = text;
    await this.#keepLastGood();
  }

  /** Keeps the last content that was read as good, to restore it from. */
  async #keepLastGood(): Promise<void> {
    const text = this.#text;
    if (text === undefined || text === (await readText(this.#lastGood))) return;
    try {
      await writeFully(this.#lastGood, text);
    } catch (error) {
      this.#log.warn("the copy to restore from was not written", { file: this.#lastGood, error });
    }
  }

  /** Moves the file out of the way and gives its new path. */
  async setAside(): Promise<string> {
    const keptAs = `${this.#path}.damaged-${new Date().toISOString().replaceAll(":", "-")}`;
    await rename(this.#path, keptAs);
    return keptAs;
  }

  async #restore(damage: MantelError): Promise<T | undefined> {
    const keptAs = await this.setAside();
    const document = await this.#readLastGood();
    if (document !== undefined) await this.write(document);
    this.#log.error("a damaged document was set aside", {
      file: this.#path,
      keptAs,
      used: document === undefined ? "the defaults" : "the last good copy",
      damage: damage.message,
      faults: damage.extras.errors,
    });
    return document;
  }

  async #readLastGood(): Promise<T | undefined> {
    try {
      const text = await readText(this.#lastGood);
      return text === undefined ? undefined : this.#parse(parseJsonText(text, this.#lastGood));
    } catch (error) {
      this.#log.warn("the copy to restore from is damaged too", { file: this.#lastGood, error });
      return undefined;
    }
  }

  get #lastGood(): string {
    return `${this.#path}.last-good`;
  }
}

/** The text of a file, or `undefined` when there is none. */
export async function readText(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === "ENOENT") return undefined;
    throw new Error(
      `${path} cannot be read (${code}); give the user who runs Mantel access to it`,
      {
        cause,
      },
    );
  }
}

/** Writes durably, and turns a full disk into an error that a client may see. */
export async function writeFully(path: string, text: string): Promise<void> {
  try {
    await writeDurably(path, text);
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code !== "ENOSPC" && code !== "EDQUOT") throw cause;
    throw new MantelError("disk_full", `the disk is full; ${basename(path)} is as it was`, {
      cause,
    });
  }
}
