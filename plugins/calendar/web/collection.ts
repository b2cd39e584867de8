import { basename } from "node:path";
import { type Log, MantelError, type Storage } from "@mantel/plugin-sdk";
import { joinFiles } from "../join-files.ts";
import type { Source } from "../source.ts";
import type { DavChanges } from "./dav-changes.ts";
import type { DavObject, DavServer } from "./dav.ts";
import { MAX_BYTES } from "./guarded-request.ts";
import { storeCalendar, STALE_SINCE_RESTART } from "./subscription.ts";

/** The stored state of a collection. */
export interface StoredCollection {
  readonly id: string;
  readonly url: string;
  readonly name?: string | undefined;
  readonly color?: string | undefined;
}

/** The content of a collection, as it is kept on the disk. */
interface Content {
  readonly tag?: string | undefined;
  readonly token?: string | undefined;
  readonly fetchedAt: string;
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

/**
 * A calendar or address book of an account. Its objects lie on the disk and not in memory, because they
 * are needed only to put changes together.
 */
export class Collection {
  readonly kept: StoredCollection;
  readonly source: Source;
  /** The storage key of the content. */
  readonly key: string;
  readonly #disk: { readonly storage: Storage; readonly log: Log };
  /** The state that is shown; `undefined` when it may not be all there is. */
  #tag: string | undefined;

  constructor(parts: CollectionDependencies) {
    this.kept = parts.kept;
    this.source = parts.source;
    this.key = parts.key;
    this.#disk = parts;
  }

  looksLike({ name, color }: Pick<StoredCollection, "name" | "color">): boolean {
    return this.kept.name === name && this.kept.color === color;
  }

  /** Shows what was kept, as stale until it has been asked for again. */
  async restore(): Promise<void> {
    const content = await this.#load();
    if (!content) return;
    try {
      await this.#show(content);
      this.source.fail(STALE_SINCE_RESTART);
      this.#tag = content.tag;
    } catch {
      await this.forget(); // it is fetched whole then
    }
  }

  /** Reads the changes, unless the tag is unchanged. */
  async update(server: DavServer, tag: string | undefined): Promise<void> {
    const now = new Date();
    if (tag !== undefined && tag === this.#tag) {
      this.source.confirm(now);
      return;
    }
    const before = await this.#load();
    const changes = await server.changes(this.kept.url, before?.token);
    const { objects, complete } = await this.#fetch(server, changes, before?.objects ?? {});
    const known = complete ? { tag, token: changes.token } : {};
    const content: Content = { ...known, fetchedAt: now.toISOString(), objects };
    await this.#show(content);
    await storeCalendar(this.#disk, this.key, content);
    this.#tag = known.tag;
  }

  async forget(): Promise<void> {
    await this.#disk.storage.delete(this.key);
  }

  /** An object that is broken is left out and named, and takes nothing from the others. */
  async #show({ objects, fetchedAt }: Content): Promise<void> {
    const files = Object.entries(objects).map(([path, { data }]) => ({
      name: basename(path),
      bytes: Buffer.from(data),
    }));
    if (files.reduce((sum, { bytes }) => sum + bytes.length, 0) > MAX_BYTES) {
      throw new MantelError("invalid", `the calendar is larger than ${MAX_BYTES / 1e6} MB`);
    }
    const { texts, leftOut } = await joinFiles(files);
    await this.source.read(texts, new Date(fetchedAt), leftOut);
  }

  async #load(): Promise<Content | undefined> {
    const content = (await this.#disk.storage.get(this.key)) as Partial<Content> | undefined;
    const isComplete =
      typeof content?.fetchedAt === "string" && typeof content.objects === "object";
    return isComplete ? (content as Content) : undefined;
  }

  /** The objects after some changes. Not complete when the server has not given all it has named. */
  async #fetch(
    server: DavServer,
    { changed, deletedPaths, whole }: DavChanges,
    before: Content["objects"],
  ): Promise<{ objects: Content["objects"]; complete: boolean }> {
    if (changed.size > MAX_OBJECTS) {
      throw new MantelError("invalid", `the calendar has over ${MAX_OBJECTS} events`);
    }
    const objects = new Map(Object.entries(before).filter(([path]) => !whole || changed.has(path)));
    for (const path of deletedPaths) objects.delete(path);
    const toRead = [...changed].filter(
      ([path, etag]) => etag === undefined || objects.get(path)?.etag !== etag,
    );
    const paths = toRead.map(([path]) => path);
    const fetched = await server.objects(this.kept.url, paths);
    for (const [path, object] of fetched) objects.set(path, object);
    return {
      objects: Object.fromEntries(objects),
      complete: paths.every((path) => fetched.has(path)),
    };
  }
}
