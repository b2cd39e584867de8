import type { StorageJournal } from "@mantel/plugin-sdk";

/** The time after an unexpected end in which each piece of code is written down before it runs. */
const CAREFUL_MS = 10 * 60_000;
const RUNNING = "running";
const OPEN = "open";
const blameKey = (file: string) => `blame ${file}`;

/** A version of a file, by its key. */
export interface RunningCode {
  readonly file: string;
  readonly key: string;
}

/** Values by key that survive a crash of the process. */
export type CrashJournal = Pick<StorageJournal, "get" | "set" | "delete" | "close">;

/**
 * Finds out whose code ended the whole process, such as with buffers, which no limit of a thread counts. In a process
 * that follows an unexpected end, code runs one piece at a time, and what runs is stored before it. If that process
 * ends as well, the code that ran is to blame. A process that follows an orderly end stores nothing.
 */
export class CrashWatch {
  readonly #journal: CrashJournal;
  readonly #now: () => number;
  readonly #carefulUntil: number;
  #isRunning = false;

  /** `now` is monotonic, in ms. */
  constructor(journal: CrashJournal, now = () => performance.now()) {
    this.#journal = journal;
    this.#now = now;
    const endedUnexpectedly = journal.get(OPEN) !== undefined;
    this.#carefulUntil = endedUnexpectedly ? now() + CAREFUL_MS : 0;
    const ran = journal.get(RUNNING) as RunningCode | undefined;
    if (ran) journal.set(blameKey(ran.file), ran.key);
    journal.delete(RUNNING);
    journal.set(OPEN, true);
  }

  /** True while code runs one piece at a time. */
  get isCareful(): boolean {
    return this.#now() < this.#carefulUntil;
  }

  /** Code is about to run. */
  begin({ file, key }: RunningCode): void {
    if (!this.isCareful) return;
    this.#isRunning = true;
    this.#journal.set(RUNNING, { file, key });
  }

  /** The code that began has returned. */
  end(): void {
    if (this.#isRunning) this.#journal.delete(RUNNING);
    this.#isRunning = false;
  }

  /** True if this code ended a process, and was not forgiven. */
  isToBlame({ file, key }: RunningCode): boolean {
    return this.#journal.get(blameKey(file)) === key;
  }

  /** Lets code run again, such as after its file was saved. */
  forgive(code: RunningCode): void {
    if (this.isToBlame(code)) this.forget(code.file);
  }

  /** Forgets a file that was deleted. */
  forget(file: string): void {
    this.#journal.delete(blameKey(file));
  }

  /** Call it in an orderly end. What runs after that is not stored. */
  async close(): Promise<void> {
    this.end();
    this.#journal.delete(OPEN);
    await this.#journal.close();
  }
}
