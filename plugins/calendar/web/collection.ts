import { basename } from "node:path";
import {
  type Log,
  MantelError,
  type Sentence,
  sentence,
  SerialQueue,
  type Storage,
} from "@mantel/plugin-sdk";
import { lineOf } from "../ics/content-line.ts";
import { readTask, type Task } from "../ics/task.ts";
import { TimeSlice } from "../ics/time-slice.ts";
import { type ParsedFile, parseFile } from "../parsed-file.ts";
import { reasonOf } from "../reason.ts";
import type { Source } from "../source.ts";
import type { DavChanges } from "./dav-changes.ts";
import type { CalendarServer } from "./dav.ts";
import { MAX_BYTES } from "./guarded-request.ts";
import { type ContentHead, type DavObject, ObjectFiles, type Objects } from "./object-files.ts";

/** The stored state of a collection. */
export interface StoredCollection {
  readonly id: string;
  readonly url: string;
  readonly name?: string | undefined;
  readonly color?: string | undefined;
  /** True if it can have tasks; absent in copies of previous versions. */
  readonly hasTasks?: boolean | undefined;
  /** True if it cannot be changed. */
  readonly isReadOnly?: boolean | undefined;
}

/** The facts of a collection that its server may change. */
type Looks = Pick<StoredCollection, "name" | "color" | "hasTasks" | "isReadOnly">;

interface CollectionDependencies {
  readonly kept: StoredCollection;
  readonly source: Source;
  readonly storage: Storage;
  readonly log: Log;
  readonly key: string;
}

/** An object as it is understood, or the reason why it is not. Its text is only on the disk. */
interface KnownObject {
  readonly etag: string | undefined;
  readonly size: number;
  readonly file?: ParsedFile;
  readonly fault?: Sentence;
  readonly task?: Task | undefined;
  readonly uids: readonly string[];
}

const MAX_OBJECTS = 50_000;
/** Objects after which a growing collection is first shown; then at twice as many, and so on. */
const FIRST_SHOWN = 200;
const OBJECTS_AT_ONCE = 50;
const MONTH_MS = 31 * 86_400_000;
const YEAR_MS = 366 * 86_400_000;

/** A calendar or address book of an account. */
export class Collection {
  readonly source: Source;
  /** The storage key of the content. */
  readonly key: string;
  #kept: StoredCollection;
  readonly #files: ObjectFiles;
  /** One reading at a time, because each continues from what the one before has read. */
  readonly #queue = new SerialQueue();
  /** A reading of changes that has not begun. */
  #next: Promise<boolean> | undefined;
  /** By path. */
  readonly #objects = new Map<string, KnownObject>();
  /** The path of the object with a UID. */
  readonly #paths = new Map<string, string>();
  /** Objects that are not stored yet; null for a removed one. */
  readonly #unsaved = new Map<string, DavObject | null>();
  /** Absent until something was read. */
  #head: ContentHead | undefined;
  /** True if the source has the objects as they are now. */
  #isShown = false;
  /** The tag at the server whose state is shown; `undefined` when it may not be all there is. */
  #tag: string | undefined;

  constructor(parts: CollectionDependencies) {
    const { kept, source, storage, log, key } = parts;
    this.#kept = kept;
    this.source = source;
    this.key = key;
    this.#files = new ObjectFiles({ storage, log, key });
  }

  get kept(): StoredCollection {
    return this.#kept;
  }

  looksLike({ name, color, hasTasks, isReadOnly = false }: Looks): boolean {
    const kept = this.#kept;
    const isSame = kept.name === name && kept.color === color && kept.hasTasks === hasTasks;
    return isSame && (kept.isReadOnly ?? false) === isReadOnly;
  }

  /** Takes over another name and colour; the content stays. */
  rename(looks: Looks): void {
    this.#kept = { ...this.#kept, ...looks };
  }

  /** Its tasks, as they were read last. */
  get tasks(): readonly Task[] {
    return [...this.#objects.values()].flatMap(({ task }) => task ?? []);
  }

  /** Shows what was kept, as stale until it has been asked for again. */
  async restore(): Promise<void> {
    try {
      const head = await this.#files.read((objects) => this.#knowAll(objects));
      if (!head) return;
      const { files, leftOut } = this.#content;
      const changedAt = new Date(head.changedAt ?? head.fetchedAt);
      await this.source.restore(files, new Date(head.fetchedAt), { leftOut, changedAt });
      this.#isShown = true;
      this.#head = head;
      this.#tag = head.tag;
      this.#tellLeft();
    } catch {
      await this.forget(); // it is fetched whole then
    }
  }

  /**
   * Reads the changes, unless the tag is unchanged. A large collection is shown while it grows, and what was read before
   * a failure is kept for the next time. False if the time was over before everything was read.
   * @throws MantelError `invalid` or `deadline_passed`
   */
  update(server: CalendarServer, tag: string | undefined, reading: Reading): Promise<boolean> {
    return this.#queue.take(() => this.#update(server, tag, reading));
  }

  /** Reads what has changed by now. Callers that wait for the same turn share it. @throws MantelError as `update` */
  readChanges(server: CalendarServer, reading: Reading): Promise<boolean> {
    this.#next ??= this.#queue.take(() => {
      this.#next = undefined;
      return this.#update(server, undefined, reading);
    });
    return this.#next;
  }

  /** The path of the object of an event or task; `undefined` if it was not read yet. */
  pathOf(uid: string): string | undefined {
    return this.#paths.get(uid);
  }

  async forget(): Promise<void> {
    await this.#files.forget();
    this.#objects.clear();
    this.#paths.clear();
    this.#unsaved.clear();
    this.#head = undefined;
    this.#tag = undefined;
  }

  async #update(
    server: CalendarServer,
    tag: string | undefined,
    reading: Reading,
  ): Promise<boolean> {
    const now = new Date();
    if (tag !== undefined && tag === this.#tag) {
      this.source.confirm(now);
      return true;
    }
    const changes = await server.changes(this.#kept.url, this.#head?.token);
    if (changes.changed.size > MAX_OBJECTS) throw tooMany();
    const hasRemoved = this.#remove(changes);
    const wanted = [...changes.changed].flatMap(([path, etag]) =>
      etag === undefined || this.#objects.get(path)?.etag !== etag ? [path] : [],
    );
    const paths = await inOrder(server, this.#kept.url, wanted);
    const isChanged = hasRemoved || paths.length > 0;
    const growing = { paths, isFirst: this.#head === undefined, isChanged };
    const end = await this.#grow(server, growing, reading);
    const known = end === "whole" ? { tag, token: changes.token } : {};
    const left = end === "cut short" ? this.#leftOf(growing) : 0;
    await this.#take({ ...known, ...this.#times(growing, now), left });
    this.#tag = known.tag;
    return end !== "cut short";
  }

  /** Removes the objects that no longer exist. True if there were any. */
  #remove({ changed, deletedPaths, whole }: DavChanges): boolean {
    const gone = [...this.#objects.keys()].filter(
      (path) => deletedPaths.has(path) || (whole && !changed.has(path)),
    );
    for (const path of gone) {
      this.#forgetPaths(path);
      this.#objects.delete(path);
      this.#unsaved.set(path, null);
      this.#isShown = false;
    }
    return gone.length > 0;
  }

  /** Reads the objects with these paths, and shows some of them as soon as they are there. */
  async #grow(
    server: CalendarServer,
    growing: Growing,
    { endsAt, now, shown }: Reading,
  ): Promise<End> {
    const { paths } = growing;
    let nextShown = FIRST_SHOWN;
    let isWhole = true;
    for (let at = 0; at < paths.length; at += OBJECTS_AT_ONCE) {
      if (at > 0 && now() > endsAt) return "cut short";
      const some = paths.slice(at, at + OBJECTS_AT_ONCE);
      const fetched = await server.objects(this.#kept.url, some).catch(async (error: unknown) => {
        if (at > 0) await this.#takePart(growing);
        throw error;
      });
      await this.#knowAll(fetched);
      for (const [path, object] of fetched) this.#unsaved.set(path, object);
      isWhole &&= some.every((path) => fetched.has(path));
      const isLast = at + OBJECTS_AT_ONCE >= paths.length;
      if (!growing.isFirst || isLast || at + OBJECTS_AT_ONCE < nextShown) continue;
      nextShown *= 2; // each time costs as much as there is
      await this.#takePart(growing);
      shown();
    }
    return isWhole ? "whole" : "lacking";
  }

  async #knowAll(objects: Objects): Promise<void> {
    const slice = new TimeSlice();
    for (const [path, object] of objects) {
      await this.#know(path, object, slice);
      if (slice.isOver) await slice.yield();
    }
  }

  /** Parses an object once, when it arrives. */
  async #know(path: string, { etag, data }: DavObject, slice: TimeSlice): Promise<void> {
    const bytes = Buffer.from(data);
    this.#isShown = false;
    this.#forgetPaths(path);
    const parsed = await parseFile(bytes, slice).catch((error: unknown) => reasonOf(error));
    const size = bytes.length;
    if (!("size" in parsed)) {
      this.#objects.set(path, { etag, size, fault: parsed, uids: [] });
      return;
    }
    const task = await this.#taskIn(bytes, parsed);
    const uids = uidsIn(parsed, task);
    this.#objects.set(path, { etag, size, file: parsed, task, uids });
    for (const uid of uids) this.#paths.set(uid, path);
  }

  /** A task that is broken is left out. */
  async #taskIn(bytes: Uint8Array, file: ParsedFile): Promise<Task | undefined> {
    if (this.#kept.hasTasks === false) return undefined;
    const [calendar] = file.calendars;
    return calendar && readTask(bytes, this.source.zone, calendar).catch(() => undefined);
  }

  #forgetPaths(path: string): void {
    for (const uid of this.#objects.get(path)?.uids ?? []) {
      if (this.#paths.get(uid) === path) this.#paths.delete(uid);
    }
  }

  #takePart(growing: Growing): Promise<void> {
    const head = { ...this.#times(growing, new Date()), left: this.#leftOf(growing) };
    return this.#take(head);
  }

  /** Shows the content, and stores it. A broken object is left out and named; the others are shown. */
  async #take(head: ContentHead): Promise<void> {
    const at = new Date(head.fetchedAt);
    if (this.#isShown) this.source.confirm(at);
    else {
      const { files, leftOut } = this.#content;
      await this.source.take(files, at, { leftOut, changedAt: new Date(head.changedAt ?? at) });
      this.#isShown = true;
    }
    this.#head = head;
    this.#tellLeft();
    const changes = new Map(this.#unsaved);
    this.#unsaved.clear();
    await this.#files.write(head, changes);
    this.#tag = undefined;
  }

  /** @throws MantelError `invalid` if it is too large */
  get #content() {
    const all = [...this.#objects];
    if (all.reduce((sum, [, { size }]) => sum + size, 0) > MAX_BYTES) throw tooLarge();
    return {
      files: all.flatMap(([, { file }]) => file ?? []),
      leftOut: all.flatMap(([path, { fault }]) =>
        fault ? [{ name: basename(path), reason: fault }] : [],
      ),
    };
  }

  #times({ isChanged }: Growing, now: Date): Pick<ContentHead, "fetchedAt" | "changedAt"> {
    const at = now.toISOString();
    const changedAt = isChanged ? at : (this.#head?.changedAt ?? this.#head?.fetchedAt ?? at);
    return { fetchedAt: at, changedAt };
  }

  #leftOf({ paths }: Growing): number {
    return paths.filter((path) => !this.#objects.has(path)).length;
  }

  #tellLeft(): void {
    const { left = 0 } = this.#head ?? {};
    const done = this.#objects.size;
    if (left > 0) this.source.readsOn({ done, total: done + left, unit: "events" });
  }
}

/** The bounds of one reading, and what it tells. */
export interface Reading {
  /** On the clock of `now`. */
  readonly endsAt: number;
  readonly now: () => number;
  /** Called when more of a growing collection is shown. */
  readonly shown: () => void;
}

/** `lacking` if the server has not given everything that it named. */
type End = "whole" | "lacking" | "cut short";

/** A collection while its objects are read. */
interface Growing {
  /** The paths to read, the most wanted first. */
  readonly paths: readonly string[];
  /** True if nothing of it was read before. */
  readonly isFirst: boolean;
  readonly isChanged: boolean;
}

function tooMany(): MantelError {
  const values = { most: MAX_OBJECTS };
  return new MantelError(
    "invalid",
    sentence("too_many_events", "the calendar has over {most} events", values),
  );
}

function tooLarge(): MantelError {
  const values = { most: MAX_BYTES / 1e6 };
  return new MantelError(
    "invalid",
    sentence("too_large", "the calendar is larger than {most} MB", values),
  );
}

function uidsIn({ calendars }: ParsedFile, task: Task | undefined): string[] {
  const events = calendars.flatMap(({ events: all }) => all);
  const uids = events.map(({ lines }) => uidIn(lines));
  return [...new Set([...uids, task?.uid])].filter((uid) => uid !== undefined);
}

function uidIn(lines: readonly string[]): string | undefined {
  const line = lineOf(lines, "UID");
  return line?.slice(line.indexOf(":") + 1).trim();
}

/** Coming events first and the oldest last, as far as the server tells; few are read at once anyway. */
async function inOrder(
  server: CalendarServer,
  url: string,
  paths: readonly string[],
): Promise<readonly string[]> {
  if (paths.length < FIRST_SHOWN) return paths;
  const [coming, recent] = [
    await server.pathsSince(url, Date.now() - MONTH_MS),
    await server.pathsSince(url, Date.now() - YEAR_MS),
  ];
  const rank = (path: string) => (coming.has(path) ? 0 : recent.has(path) ? 1 : 2);
  return paths.toSorted((a, b) => rank(a) - rank(b));
}
