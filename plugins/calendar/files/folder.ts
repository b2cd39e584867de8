import { createHash } from "node:crypto";
import { mkdir } from "node:fs/promises";
import { basename, extname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { MantelError } from "@mantel/plugin-sdk";
import type { Zone } from "../ics/zones.ts";
import type { Settings } from "../options.ts";
import { Source } from "../source.ts";
import { isCalendarFile, readEntry } from "./folder-entry.ts";
import { FolderWatch } from "./folder-watch.ts";

/** How long a start waits for what is in the folder; a bomb in it must not end the start of all. */
const FIRST_READING_MS = 2_000;
/** Files that are held in memory at once before it is known whether there is room for them. */
const READS_AT_ONCE = 4;

export interface FolderOptions {
  readonly path: string;
  readonly floating: Zone;
  readonly locale: string;
  /** True of ids that calendars on the web have or may get. */
  readonly isTaken: (id: string) => boolean;
  /** What a person has said of calendars of the folder, by id. */
  readonly settings: ReadonlyMap<string, Settings>;
  readonly add: (source: Source) => void;
  readonly remove: (id: string) => void;
  readonly changed: () => void;
  readonly onFault: (error: unknown) => void;
}

/** Programs write a file in several steps, so it is read when it has rested for this long. */
const REST_MS = 100;

/**
 * Makes a source of every calendar file (`.ics`, `.vcf`) in a folder, and one of every folder of such
 * files, and follows them. Resolves when those that are there have been read, or take too long; the function
 * it gives ends the watch.
 */
export async function followFolder(options: FolderOptions): Promise<() => Promise<void>> {
  await mkdir(options.path, { recursive: true, mode: 0o700 });
  const entries = new Entries(options);
  const watch = new FolderWatch({ ...options, changed: (name) => entries.settle(name) });
  const reading = watch
    .start()
    .then((names) => entries.readFirst(names))
    .catch(options.onFault);
  await Promise.race([reading, delay(FIRST_READING_MS, undefined, { ref: false })]);
  return async () => {
    watch.close();
    await entries.close();
  };
}

/** The files and folders that are calendars, by name. */
class Entries {
  readonly #options: FolderOptions;
  readonly #sources = new Map<string, Source>();
  readonly #resting = new Map<string, NodeJS.Timeout>();
  /** Calendars that a person has said something of, and that are not there. */
  readonly #missing = new Set<string>();
  /** Each is read once at a time, so that an older content never replaces a newer one. */
  readonly #reading = new Map<string, Promise<void>>();
  readonly #waiting: (() => void)[] = [];
  #reads = 0;

  constructor(options: FolderOptions) {
    this.#options = options;
  }

  settle(name: string): void {
    clearTimeout(this.#resting.get(name));
    this.#resting.set(
      name,
      setTimeout(() => void this.read(name), REST_MS),
    );
  }

  async close(): Promise<void> {
    for (const timer of this.#resting.values()) clearTimeout(timer);
    await Promise.all(this.#reading.values());
  }

  /** All that are there at the start. They get their ids in this order, whichever is read first. */
  async readFirst(names: readonly string[]): Promise<void> {
    for (const name of names) if (!this.#sources.has(name)) this.#create(name);
    this.#showMissing();
    await Promise.all(names.map((name) => this.read(name)));
  }

  /** Files are worked out side by side, so that none waits for one that takes long. */
  read(name: string): Promise<void> {
    this.#resting.delete(name);
    const reading = (this.#reading.get(name) ?? Promise.resolve())
      .then(() => this.#read(name))
      .finally(() => {
        if (this.#reading.get(name) === reading) this.#reading.delete(name);
      });
    this.#reading.set(name, reading);
    return reading;
  }

  /** Settings for a calendar that is not there are most likely a slip, and are shown as one. */
  #showMissing(): void {
    const { settings, add, changed } = this.#options;
    const there = new Set([...this.#sources.values()].map(({ id }) => id));
    for (const id of settings.keys()) {
      if (there.has(id) || this.#missing.has(id)) continue;
      const source = this.#sourceOf(id, id);
      source.fail(`there is no ${id}.ics, ${id}.vcf or folder ${id} in the calendars folder`);
      this.#missing.add(id);
      add(source);
      changed();
    }
  }

  async #read(name: string): Promise<void> {
    const { path, onFault, changed } = this.#options;
    try {
      const entry = await this.#inTurn(() => readEntry(join(path, name)));
      if (!entry) return this.#remove(name);
      const source = this.#sources.get(name) ?? this.#create(name);
      await source.read(entry.texts, new Date(), entry.leftOut);
    } catch (error) {
      const known = error instanceof MantelError;
      if (!known) onFault(error);
      const source = this.#sources.get(name) ?? this.#create(name);
      source.fail(known ? error.message : "the file cannot be read");
    }
    changed();
  }

  async #inTurn<T>(read: () => Promise<T>): Promise<T> {
    if (this.#reads === READS_AT_ONCE) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    } else {
      this.#reads++;
    }
    try {
      return await read();
    } finally {
      const next = this.#waiting.shift(); // takes over this turn
      if (next) next();
      else this.#reads--;
    }
  }

  #remove(name: string): void {
    const source = this.#sources.get(name);
    this.#sources.delete(name);
    if (source) this.#options.remove(source.id);
    this.#showMissing();
  }

  #create(name: string): Source {
    const title = basename(name, isCalendarFile(name) ? extname(name) : "");
    const source = this.#sourceOf(this.#idOf(name, title), title);
    this.#sources.set(name, source);
    this.#missing.delete(source.id);
    this.#options.add(source);
    return source;
  }

  #sourceOf(id: string, fallbackName: string): Source {
    const { floating, locale, settings } = this.#options;
    return new Source({ id, fallbackName, floating, locale, settings: settings.get(id) });
  }

  /** The name in the letters of an id; when that is taken, with a hash of the name. */
  #idOf(name: string, title: string): string {
    const slug = slugOf(title);
    const own = new Set([...this.#sources.values()].map(({ id }) => id));
    if (slug !== "" && !own.has(slug) && !this.#options.isTaken(slug)) return slug;
    const hash = createHash("sha256").update(name).digest("hex").slice(0, 8);
    return slug === "" ? hash : `${slug}-${hash}`;
  }
}

/** A text in the letters of an id; empty when none of them is one. */
export function slugOf(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .slice(0, 50)
    .replace(/^-|-$/g, "");
}
