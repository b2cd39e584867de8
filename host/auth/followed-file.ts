import { readFileSync } from "node:fs";
import { statOf } from "../stat-of.ts";

/** A change by another process is seen within this time. */
const LOOK_EVERY_MS = 200;
const ABSENT = "absent";

/**
 * A small file that other processes change too, parsed. It is looked at while it is used and not
 * watched, so that it needs no owner and what is read is never older than a moment.
 */
export class FollowedFile<T> {
  readonly #path: string;
  readonly #parse: (text: string) => T;
  #value: T;
  #stamp: string;
  #lookedAt = performance.now();

  /** `parse` gets an empty text when there is no file. What it throws here is thrown. */
  constructor(path: string, parse: (text: string) => T) {
    this.#path = path;
    this.#parse = parse;
    this.#stamp = this.#readStamp();
    this.#value = this.#read(this.#stamp);
  }

  /** What the file holds. The same object as long as the file is the same. */
  get value(): T {
    if (performance.now() - this.#lookedAt >= LOOK_EVERY_MS) this.look();
    return this.#value;
  }

  /** Reads the file again when it has changed. While it is gone, or cannot be read, the value stays. */
  look(): void {
    this.#lookedAt = performance.now();
    const stamp = this.#readStamp();
    if (stamp === this.#stamp || stamp === ABSENT) return;
    try {
      this.#value = this.#read(stamp);
      this.#stamp = stamp;
    } catch {
      // Caught in the middle of somebody's edit: the next look tries again.
    }
  }

  #readStamp(): string {
    const stats = statOf(this.#path);
    return stats ? `${stats.ino} ${stats.size} ${stats.mtimeMs}` : ABSENT;
  }

  #read(stamp: string): T {
    return this.#parse(stamp === ABSENT ? "" : readFileSync(this.#path, "utf8"));
  }
}
