import { readFileSync } from "node:fs";
import { findStat } from "../safe-stat.ts";

/** A change by another process is seen within this time. */
const LOOK_EVERY_MS = 200;
const ABSENT = "absent";

/**
 * A small parsed file that other processes change too. It is checked when it is used and not
 * watched, so that it needs no owner and its value is at most a moment old.
 */
export class SharedFile<T> {
  readonly #path: string;
  readonly #parse: (text: string) => T;
  #value: T;
  #stamp: string;
  #lookedAt = performance.now();

  /** `parse` gets an empty text if the file does not exist. Its errors are thrown here. */
  constructor(path: string, parse: (text: string) => T) {
    this.#path = path;
    this.#parse = parse;
    this.#stamp = this.#readStamp();
    this.#value = this.#read(this.#stamp);
  }

  /** The content of the file. The same object as long as the file is unchanged. */
  get value(): T {
    if (performance.now() - this.#lookedAt >= LOOK_EVERY_MS) this.look();
    return this.#value;
  }

  /** Reads the file again if it has changed. If it is missing or cannot be read, the value stays. */
  look(): void {
    this.#lookedAt = performance.now();
    const stamp = this.#readStamp();
    if (stamp === this.#stamp || stamp === ABSENT) return;
    try {
      this.#value = this.#read(stamp);
      this.#stamp = stamp;
    } catch {
      // The file is being written: the next check tries again.
    }
  }

  #readStamp(): string {
    const stats = findStat(this.#path);
    return stats ? `${stats.ino} ${stats.size} ${stats.mtimeMs}` : ABSENT;
  }

  #read(stamp: string): T {
    return this.#parse(stamp === ABSENT ? "" : readFileSync(this.#path, "utf8"));
  }
}
