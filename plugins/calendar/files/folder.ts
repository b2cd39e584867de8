import { createHash } from "node:crypto";
import { mkdir } from "node:fs/promises";
import { basename, extname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { MantelError, sentence } from "@mantel/plugin-sdk";
import type { Zone } from "../ics/zones.ts";
import type { Settings } from "../options.ts";
import { reasonOf } from "../reason.ts";
import { Source } from "../source.ts";
import { isCalendarFile, readEntry } from "./folder-entry.ts";
import { FolderWatch } from "./folder-watch.ts";

/** Maximum wait of the start for the folder; a malicious file must not block the start. */
const FIRST_READING_MS = 2_000;
/** Maximum number of files in memory before the total size is checked. */
const READS_AT_ONCE = 4;

export interface FolderOptions {
  readonly path: string;
  readonly floating: Zone;
  readonly locale: string;
  /** True for ids that calendars on the web have or may get. */
  readonly isTaken: (id: string) => boolean;
  /** User settings for calendars of the folder, by id. */
  readonly settings: ReadonlyMap<string, Settings>;
  readonly add: (source: Source) => void;
  readonly remove: (id: string) => void;
  readonly changed: () => void;
  readonly onFault: (error: unknown) => void;
}

/** A file is read after this long without changes, because programs write in several steps. */
const REST_MS = 100;

/**
 * Creates and follows a source for each calendar file (`.ics`, `.vcf`) and each subfolder of such
 * files. Resolves when the existing ones have been read, or take too long.
 */
export async function followFolder(options: FolderOptions): Promise<FollowedFolder> {
  await mkdir(options.path, { recursive: true, mode: 0o700 });
  const entries = new Entries(options);
  const watch = new FolderWatch({ ...options, changed: (name) => entries.settle(name) });
  const reading = watch
    .start()
    .then((names) => entries.readFirst(names))
    .catch(options.onFault);
  await Promise.race([reading, delay(FIRST_READING_MS, undefined, { ref: false })]);
  return {
    refresh: (id) => entries.refresh(id),
    async close() {
      watch.close();
      await entries.close();
    },
  };
}

export interface FollowedFolder {
  /** Reads the file or folder of a calendar again. */
  readonly refresh: (id: string) => Promise<void>;
  /** Stops watching. */
  readonly close: () => Promise<void>;
}

/** The calendar files and folders, by name. */
class Entries {
  readonly #options: FolderOptions;
  readonly #sources = new Map<string, Source>();
  readonly #resting = new Map<string, NodeJS.Timeout>();
  /** Calendars with settings that do not exist. */
  readonly #missing = new Set<string>();
  /** Each is read once at a time, so that older content never replaces newer content. */
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

  async refresh(id: string): Promise<void> {
    const [name] = [...this.#sources].find(([, source]) => source.id === id) ?? [];
    if (name !== undefined) await this.read(name);
  }

  async close(): Promise<void> {
    for (const timer of this.#resting.values()) clearTimeout(timer);
    await Promise.all(this.#reading.values());
  }

  /** Reads all existing ones. They get their ids in this order, whichever is read first. */
  async readFirst(names: readonly string[]): Promise<void> {
    for (const name of names) if (!this.#sources.has(name)) this.#create(name);
    this.#showMissing();
    await Promise.all(names.map((name) => this.read(name)));
  }

  /** Files are processed in parallel, so that none waits for a slow one. */
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

  /** Settings for a missing calendar are most likely a typo, so they are shown as a fault. */
  #showMissing(): void {
    const { settings, add, changed } = this.#options;
    const there = new Set([...this.#sources.values()].map(({ id }) => id));
    for (const id of settings.keys()) {
      if (there.has(id) || this.#missing.has(id)) continue;
      const source = this.#sourceOf(id, id);
      source.fail(
        sentence(
          "no_such_file",
          "there is no {id}.ics, {id}.vcf or folder {id} in the calendars folder",
          { id },
        ),
      );
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
      if (entry.files.length > 0) await source.take(entry.files, new Date(), entry);
      else source.failFor(entry.leftOut);
    } catch (error) {
      if (!(error instanceof MantelError)) onFault(error);
      const source = this.#sources.get(name) ?? this.#create(name);
      source.fail(reasonOf(error));
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

  /** The name as an id. If that is taken, a hash of the name is appended. */
  #idOf(name: string, title: string): string {
    const slug = slugOf(title);
    const own = new Set([...this.#sources.values()].map(({ id }) => id));
    if (slug !== "" && !own.has(slug) && !this.#options.isTaken(slug)) return slug;
    const hash = createHash("sha256").update(name).digest("hex").slice(0, 8);
    return slug === "" ? hash : `${slug}-${hash}`;
  }
}

/** A text reduced to the characters of an id; empty if none remain. */
export function slugOf(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .slice(0, 50)
    .replace(/^-|-$/g, "");
}
