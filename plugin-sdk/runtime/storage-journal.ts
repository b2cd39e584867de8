import { appendFileSync, closeSync, mkdirSync, openSync, readFileSync, renameSync } from "node:fs";
import { open, rm } from "node:fs/promises";
import { dirname } from "node:path";
import type { Log, StorageJournal } from "../context.ts";
import { syncFolder, syncHandle } from "../durable-file.ts";
import { Throttle } from "../timers.ts";

/** A power cut loses at most the changes of this time. */
const SYNC_EVERY_MS = 500;
/** Outdated lines of the file, above which it is written again. */
const MOST_OUTDATED = 5_000;
/** The time between two attempts while nothing can be written. */
const RETRY_MS = 5_000;

interface Options {
  readonly path: string;
  readonly log: Log;
  /** The reason why writes are refused now, if they are. */
  readonly refusal: () => string | undefined;
}

/**
 * Values by key in a file to which each change is appended: `["key",value]`, or `["key"]` for a deleted one. The changes
 * of one turn are one write, so that a crash of the process keeps either all of them or none. When most of the file is
 * outdated, a new one replaces it.
 */
export class FileJournal implements StorageJournal {
  readonly #options: Options;
  /** The present values by key, each as the line of the file that sets it. */
  readonly #lines: Map<string, string>;
  readonly #syncs = new Throttle(SYNC_EVERY_MS, () => void this.#sync());
  #file: number | undefined;
  /** Lines of the present turn. */
  #pending: string[] = [];
  /** The number of lines in the file. */
  #count: number;
  /** Changes since a new file was begun; `undefined` if none is being written. */
  #since: string[] | undefined;
  #replacing: Promise<void> | undefined;
  /** Present while nothing can be written. */
  #retry: NodeJS.Timeout | undefined;
  #isClosed = false;

  private constructor(options: Options, { lines, count, isWhole }: ReadJournal) {
    this.#options = options;
    this.#lines = lines;
    this.#count = count;
    if (!isWhole) this.#pending.push("\n"); // so that the next line does not continue a damaged one
  }

  /** Reads the file. Lines that a power cut has damaged are left out. */
  static open(options: Options): FileJournal {
    return new FileJournal(options, readJournal(options));
  }

  get(key: string): unknown {
    const line = this.#lines.get(key);
    return line === undefined ? undefined : parseLine(line)?.[1];
  }

  *[Symbol.iterator](): IterableIterator<[string, unknown]> {
    for (const key of [...this.#lines.keys()]) yield [key, this.get(key)];
  }

  set(key: string, value: unknown): void {
    if (this.#isClosed) return;
    const line = `${JSON.stringify([key, value ?? null])}\n`;
    if (this.#lines.get(key) === line) return;
    this.#lines.set(key, line);
    this.#append(line);
  }

  delete(key: string): boolean {
    if (this.#isClosed || !this.#lines.delete(key)) return false;
    this.#append(`${JSON.stringify([key])}\n`);
    return true;
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#flush();
    this.#isClosed = true;
    this.#syncs.stop();
    await this.#replacing;
    if (this.#retry) await this.#replace();
    clearTimeout(this.#retry);
    if (this.#file === undefined) return;
    await sync(this.#options.path).catch(() => undefined);
    closeSync(this.#file);
    this.#file = undefined;
  }

  #append(line: string): void {
    this.#pending.push(line);
    queueMicrotask(() => this.#flush());
  }

  #flush(): void {
    if (this.#pending.length === 0 || this.#isClosed) return;
    const lines = this.#pending.splice(0);
    this.#since?.push(...lines);
    if (this.#retry) return; // the next file has them
    try {
      this.#requireStorage();
      this.#file ??= openForAppend(this.#options.path, "a");
      appendFileSync(this.#file, lines.join(""));
      this.#count += lines.length;
      this.#syncs.request();
    } catch (error) {
      return this.#failed(error);
    }
    this.#replaceIfOutdated();
  }

  #replaceIfOutdated(): void {
    const outdated = this.#count - this.#lines.size;
    if (outdated > Math.max(MOST_OUTDATED, this.#lines.size)) void this.#replace();
  }

  /** Writes a new file from time to time, until that succeeds. */
  #failed(error: unknown): void {
    if (!this.#retry) {
      const { path, log } = this.#options;
      log.error("could not store changes; trying again", { file: path, error });
    }
    clearTimeout(this.#retry);
    this.#retry = setTimeout(() => void this.#replace(), RETRY_MS).unref();
  }

  #replace(): Promise<void> {
    this.#replacing ??= this.#writeAgain().finally(() => {
      this.#replacing = undefined;
      // What was outdated meanwhile is in the new file.
      if (!this.#retry && !this.#isClosed) this.#replaceIfOutdated();
    });
    return this.#replacing;
  }

  /** Replaces the file by one with the present values only. Never rejects. */
  async #writeAgain(): Promise<void> {
    const { path, log } = this.#options;
    const temporary = `${path}.new`;
    const count = this.#lines.size;
    const text = [...this.#lines.values()].join("");
    this.#since = [];
    let file: number | undefined;
    try {
      this.#requireStorage();
      file = openForAppend(temporary, "w");
      appendFileSync(file, text);
      await sync(temporary);
      // Until the files are exchanged nothing else runs, so that no change is missing in the new one.
      this.#flush();
      appendFileSync(file, this.#since.join(""));
      renameSync(temporary, path);
      if (this.#file !== undefined) closeSync(this.#file);
      this.#file = file;
      this.#count = count + this.#since.length;
      if (this.#retry) log.info("storing changes works again", { file: path });
      clearTimeout(this.#retry);
      this.#retry = undefined;
      await sync(path);
      await syncFolder(dirname(path));
    } catch (error) {
      if (file !== this.#file && file !== undefined) closeSync(file);
      await rm(temporary, { force: true });
      if (!this.#isClosed) this.#failed(error);
    } finally {
      this.#since = undefined;
    }
  }

  /** @throws Error while the host refuses writes of this plugin */
  #requireStorage(): void {
    const refusal = this.#options.refusal();
    if (refusal !== undefined) throw new Error(refusal);
  }

  /** Never rejects. */
  async #sync(): Promise<void> {
    const file = this.#file;
    if (file === undefined) return;
    try {
      await sync(this.#options.path);
    } catch (error) {
      if (file === this.#file) this.#failed(error); // another one was replaced meanwhile
    }
  }
}

/** Writes a file to the disk, by a handle: Node's permission model refuses that for every descriptor (`fs.fdatasync`). */
async function sync(path: string): Promise<void> {
  const handle = await open(path, "r+");
  try {
    await syncHandle(handle, "datasync");
  } finally {
    await handle.close();
  }
}

function openForAppend(path: string, flag: "a" | "w"): number {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  return openSync(path, flag, 0o600);
}

interface ReadJournal {
  readonly lines: Map<string, string>;
  readonly count: number;
  /** True if the last line has its end. */
  readonly isWhole: boolean;
}

function readJournal({ path, log }: Options): ReadJournal {
  const text = readText(path);
  const lines = new Map<string, string>();
  let [count, damaged] = [0, 0];
  for (const line of text.split("\n")) {
    if (line === "") continue;
    count++;
    const entry = parseLine(line);
    if (!entry) damaged++;
    else if (entry.length === 1) lines.delete(entry[0]);
    else lines.set(entry[0], `${line}\n`);
  }
  if (damaged > 0) log.warn("skipped damaged lines of a journal", { file: path, damaged });
  return { lines, count, isWhole: text === "" || text.endsWith("\n") };
}

function readText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return "";
    throw error;
  }
}

function parseLine(line: string): readonly [string] | readonly [string, unknown] | undefined {
  try {
    const entry: unknown = JSON.parse(line);
    const isEntry = Array.isArray(entry) && typeof entry[0] === "string" && entry.length <= 2;
    return isEntry ? (entry as [string] | [string, unknown]) : undefined;
  } catch {
    return undefined;
  }
}
