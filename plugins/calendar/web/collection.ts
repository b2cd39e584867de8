import { basename } from "node:path";
import { type Log, MantelError, SerialQueue, type Storage } from "@mantel/plugin-sdk";
import { YieldingPace } from "../ics/pace.ts";
import { readTask, type Task } from "../ics/task.ts";
import { joinFiles } from "../join-files.ts";
import type { Source } from "../source.ts";
import type { DavChanges } from "./dav-changes.ts";
import type { DavObject, DavServer } from "./dav.ts";
import { MAX_BYTES } from "./guarded-request.ts";
import { storeCalendar } from "./subscription.ts";

/** The stored state of a collection. */
export interface StoredCollection {
  readonly id: string;
  readonly url: string;
  readonly name?: string | undefined;
  readonly color?: string | undefined;
  /** True if it can have tasks; absent in copies of previous versions. */
  readonly hasTasks?: boolean | undefined;
}

/** The facts of a collection that its server may change. */
type Looks = Pick<StoredCollection, "name" | "color" | "hasTasks">;

/** The content of a collection, as it is kept on the disk. */
interface Content {
  readonly tag?: string | undefined;
  readonly token?: string | undefined;
  readonly fetchedAt: string;
  /** Absent in copies of previous versions. */
  readonly changedAt?: string;
  /** Objects that are not read yet; absent means none. */
  readonly left?: number;
  /** By path. */
  readonly objects: Readonly<Record<string, DavObject>>;
}

interface CollectionDependencies {
  readonly kept: StoredCollection;
  readonly source: Source;
  readonly storage: Storage;
  readonly log: Log;
  readonly key: string;
}

const MAX_OBJECTS = 50_000;
/** Objects after which a growing collection is first shown; then at twice as many, and so on. */
const FIRST_SHOWN = 200;
const OBJECTS_AT_ONCE = 50;
const MONTH_MS = 31 * 86_400_000;
const YEAR_MS = 366 * 86_400_000;

/**
 * A calendar or address book of an account. Its objects lie on the disk and not in memory, because they
 * are needed only to put changes together.
 */
export class Collection {
  readonly source: Source;
  /** The storage key of the content. */
  readonly key: string;
  #kept: StoredCollection;
  /** One reading at a time, because each continues from what the one before has stored. */
  readonly #turns = new SerialQueue();
  /** A reading of changes that has not begun. */
  #next: Promise<boolean> | undefined;
  readonly #disk: { readonly storage: Storage; readonly log: Log };
  /** The state that is shown; `undefined` when it may not be all there is. */
  #tag: string | undefined;
  #tasks: readonly Task[] = [];
  readonly #pace = new YieldingPace();

  constructor(parts: CollectionDependencies) {
    this.#kept = parts.kept;
    this.source = parts.source;
    this.key = parts.key;
    this.#disk = parts;
  }

  get kept(): StoredCollection {
    return this.#kept;
  }

  looksLike({ name, color, hasTasks }: Looks): boolean {
    const kept = this.#kept;
    return kept.name === name && kept.color === color && kept.hasTasks === hasTasks;
  }

  /** Takes over another name and colour; the content stays. */
  rename({ name, color, hasTasks }: Looks): void {
    this.#kept = { ...this.#kept, name, color, hasTasks };
  }

  /** Its tasks, as they were read last. */
  get tasks(): readonly Task[] {
    return this.#tasks;
  }

  /** Shows what was kept, as stale until it has been asked for again. */
  async restore(): Promise<void> {
    const content = await this.#load();
    if (!content) return;
    try {
      const { texts, facts } = await read(content);
      await this.source.restore(texts, new Date(content.fetchedAt), facts);
      this.#tasks = await this.#tasksOf(content);
      this.#tag = content.tag;
      this.#tellLeft(content);
    } catch {
      await this.forget(); // it is fetched whole then
    }
  }

  /**
   * Reads the changes, unless the tag is unchanged. A large collection is shown while it grows, and what was read before
   * a failure is kept for the next time. False if the time was over before everything was read.
   * @throws MantelError `invalid` or `deadline_passed`
   */
  update(server: DavServer, tag: string | undefined, reading: Reading): Promise<boolean> {
    return this.#turns.take(() => this.#update(server, tag, reading));
  }

  /** Reads what has changed by now. Callers that wait for the same turn share it. @throws MantelError as `update` */
  readChanges(server: DavServer, reading: Reading): Promise<boolean> {
    this.#next ??= this.#turns.take(() => {
      this.#next = undefined;
      return this.#update(server, undefined, reading);
    });
    return this.#next;
  }

  /** The path of the object of an event; `undefined` if it was not read yet. */
  async pathOf(uid: string): Promise<string | undefined> {
    const { objects = {} } = (await this.#load()) ?? {};
    const found = Object.entries(objects).find(([, { data }]) => hasUid(data, uid));
    return found?.[0];
  }

  async #update(server: DavServer, tag: string | undefined, reading: Reading): Promise<boolean> {
    const now = new Date();
    if (tag !== undefined && tag === this.#tag) {
      this.source.confirm(now);
      return true;
    }
    const before = await this.#load();
    const changes = await server.changes(this.#kept.url, before?.token);
    if (changes.changed.size > MAX_OBJECTS) {
      throw new MantelError("invalid", `the calendar has over ${MAX_OBJECTS} events`);
    }
    const { objects, removed } = remaining(changes, before?.objects ?? {});
    const wanted = [...changes.changed].flatMap(([path, etag]) =>
      etag === undefined || objects.get(path)?.etag !== etag ? [path] : [],
    );
    const paths = await inOrder(server, this.#kept.url, wanted);
    const growing = { objects, paths, before, isChanged: removed || paths.length > 0 };
    const end = await this.#grow(server, growing, reading);
    const known = end === "whole" ? { tag, token: changes.token } : {};
    const left = end === "cut short" ? leftOf(growing) : 0;
    await this.#take({ ...known, ...contentOf(growing, now), left });
    this.#tag = known.tag;
    return end !== "cut short";
  }

  /** Reads the objects with these paths, and shows some of them as soon as they are there. */
  async #grow(server: DavServer, growing: Growing, { endsAt, now, shown }: Reading): Promise<End> {
    const { objects, paths } = growing;
    let nextShown = FIRST_SHOWN;
    let isWhole = true;
    for (let at = 0; at < paths.length; at += OBJECTS_AT_ONCE) {
      if (at > 0 && now() > endsAt) return "cut short";
      const some = paths.slice(at, at + OBJECTS_AT_ONCE);
      const fetched = await server.objects(this.#kept.url, some).catch(async (error: unknown) => {
        if (at > 0) await this.#takePart(growing);
        throw error;
      });
      for (const [path, object] of fetched) objects.set(path, object);
      isWhole &&= some.every((path) => fetched.has(path));
      const isLast = at + OBJECTS_AT_ONCE >= paths.length;
      if (growing.before !== undefined || isLast || at + OBJECTS_AT_ONCE < nextShown) continue;
      nextShown *= 2; // each time costs as much as there is
      await this.#takePart(growing);
      shown();
    }
    return isWhole ? "whole" : "lacking";
  }

  #takePart(growing: Growing): Promise<void> {
    return this.#take({ ...contentOf(growing, new Date()), left: leftOf(growing) });
  }

  /** Shows the content, and stores it. */
  async #take(content: Content): Promise<void> {
    const { texts, facts } = await read(content);
    await this.source.read(texts, new Date(content.fetchedAt), facts);
    this.#tasks = await this.#tasksOf(content);
    this.#tellLeft(content);
    await storeCalendar(this.#disk, this.key, content);
    this.#tag = undefined;
  }

  /** An object that is broken is left out here as well. */
  async #tasksOf({ objects }: Content): Promise<readonly Task[]> {
    if (this.#kept.hasTasks === false) return [];
    const tasks: Task[] = [];
    for (const { data } of Object.values(objects)) {
      const bytes = Buffer.from(data);
      const task = await readTask(bytes, this.source.zone).catch(() => undefined);
      if (task) tasks.push(task);
      if (this.#pace.due) await this.#pace.rest();
    }
    return tasks;
  }

  #tellLeft({ objects, left = 0 }: Content): void {
    const done = Object.keys(objects).length;
    if (left > 0) this.source.readsOn({ done, total: done + left, unit: "events" });
  }

  async forget(): Promise<void> {
    await this.#disk.storage.delete(this.key);
  }

  async #load(): Promise<Content | undefined> {
    const content = (await this.#disk.storage.get(this.key)) as Partial<Content> | undefined;
    const isComplete =
      typeof content?.fetchedAt === "string" && typeof content.objects === "object";
    return isComplete ? (content as Content) : undefined;
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
  readonly objects: Map<string, DavObject>;
  /** The paths to read, the most wanted first. */
  readonly paths: readonly string[];
  readonly before: Content | undefined;
  readonly isChanged: boolean;
}

function contentOf({ objects, before, isChanged }: Growing, now: Date): Content {
  const at = now.toISOString();
  const changedAt = isChanged ? at : (before?.changedAt ?? before?.fetchedAt ?? at);
  return { fetchedAt: at, changedAt, objects: Object.fromEntries(objects) };
}

function leftOf({ objects, paths }: Growing): number {
  return paths.filter((path) => !objects.has(path)).length;
}

function hasUid(data: string, uid: string): boolean {
  const lines = data.replaceAll(/\r?\n[ \t]/g, "").split(/\r?\n/);
  return lines.some(
    (line) => /^UID[:;]/i.test(line) && line.slice(line.indexOf(":") + 1).trim() === uid,
  );
}

/** The stored objects without those that no longer exist. */
function remaining(
  { changed, deletedPaths, whole }: DavChanges,
  before: Content["objects"],
): { objects: Map<string, DavObject>; removed: boolean } {
  const all = Object.entries(before);
  const objects = new Map(
    all.filter(([path]) => !deletedPaths.has(path) && (!whole || changed.has(path))),
  );
  return { objects, removed: objects.size < all.length };
}

/** Coming events first and the oldest last, as far as the server tells; few are read at once anyway. */
async function inOrder(
  server: DavServer,
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

/** A broken object is left out and named; the others are shown. */
async function read({ objects, fetchedAt, changedAt }: Content) {
  const files = Object.entries(objects).map(([path, { data }]) => ({
    name: basename(path),
    bytes: Buffer.from(data),
  }));
  if (files.reduce((sum, { bytes }) => sum + bytes.length, 0) > MAX_BYTES) {
    throw new MantelError("invalid", `the calendar is larger than ${MAX_BYTES / 1e6} MB`);
  }
  const { texts, leftOut } = await joinFiles(files);
  return { texts, facts: { leftOut, changedAt: new Date(changedAt ?? fetchedAt) } };
}
