import type { Log, Storage } from "@mantel/plugin-sdk";

/** An object of a collection. */
export interface DavObject {
  readonly etag: string | undefined;
  readonly data: string;
}

/** The facts of a collection's content, as they are stored. */
export interface ContentHead {
  /** The state at the server; absent if the content may not be all there is. */
  readonly tag?: string | undefined;
  readonly token?: string | undefined;
  readonly fetchedAt: string;
  /** Absent in copies of previous versions. */
  readonly changedAt?: string;
  /** Objects that are not read yet; absent means none. */
  readonly left?: number;
}

/** The stored head. The objects themselves are in parts, or, in copies of previous versions, in it. */
interface StoredHead extends ContentHead {
  readonly parts?: readonly string[];
  readonly objects?: Part;
}

/** Objects by path. */
type Part = Readonly<Record<string, DavObject>>;

/** Objects with their paths. */
export type Objects = Iterable<readonly [path: string, object: DavObject]>;

/** An object that is new, or null if it is removed. */
export type ObjectChanges = ReadonlyMap<string, DavObject | null>;

/** Objects of one part: a change writes as many again. */
const PART_OBJECTS = 50;
const PART_CHARACTERS = 250_000;

interface PartState {
  count: number;
  characters: number;
}

/**
 * The objects of a collection on the disk, in parts of a few dozen, so that a change writes only what is near it. Its
 * head is written last: what a crash leaves is read again from the server.
 */
export class ObjectFiles {
  readonly #disk: { readonly storage: Storage; readonly log: Log; readonly key: string };
  readonly #partOf = new Map<string, number>();
  #parts: PartState[] = [];
  /** Objects of a copy of a previous version, which the next change writes as parts. */
  #old: Part = {};
  /** True if a part could not be written, so that the stored objects are not all. */
  #isDamaged = false;

  constructor(disk: { readonly storage: Storage; readonly log: Log; readonly key: string }) {
    this.#disk = disk;
  }

  /** Reads the head, and gives the objects of each part to `take`. `undefined` if nothing is stored. */
  async read(take: (objects: Objects) => Promise<void>): Promise<ContentHead | undefined> {
    const { storage, key } = this.#disk;
    const head = (await storage.get(key)) as Partial<StoredHead> | undefined;
    if (typeof head?.fetchedAt !== "string") return undefined;
    const { parts = [], objects = {}, ...facts } = head;
    this.#old = objects;
    await take(Object.entries(objects));
    for (const at of parts.keys()) {
      const part = Object.entries(await this.#load(at));
      for (const [path] of part) this.#partOf.set(path, at);
      this.#parts[at] = stateOf(part);
      await take(part);
    }
    return { ...facts, fetchedAt: head.fetchedAt };
  }

  /** Writes changed objects, then the head. If the disk is full, they are read again after a restart. */
  async write(head: ContentHead, changes: ObjectChanges): Promise<void> {
    const { storage, log, key } = this.#disk;
    const all = new Map([...Object.entries(this.#old), ...changes]);
    this.#old = {};
    try {
      for (const [at, some] of this.#byPart(all)) await this.#writePart(at, some);
    } catch (error) {
      this.#isDamaged = true;
      log.error("could not store the calendar", { error });
    }
    const parts = this.#parts.map((_, at) => this.#keyOf(at));
    const known = this.#isDamaged ? { ...head, tag: undefined, token: undefined } : head;
    await storage.set(key, { ...known, parts }).catch((error: unknown) => {
      log.error("could not store the calendar", { error });
    });
  }

  async forget(): Promise<void> {
    const { storage, key } = this.#disk;
    await storage.delete(key);
    for (const at of this.#parts.keys()) await storage.delete(this.#keyOf(at));
    this.#parts = [];
    this.#partOf.clear();
  }

  /** Gives each changed object a part: its own, or the first with room. */
  #byPart(changes: ObjectChanges): Map<number, Map<string, DavObject | null>> {
    const byPart = new Map<number, Map<string, DavObject | null>>();
    for (const [path, object] of changes) {
      const known = this.#partOf.get(path);
      if (known === undefined && object === null) continue;
      const at = known ?? this.#partWithRoom();
      const state = (this.#parts[at] ??= { count: 0, characters: 0 });
      if (known === undefined) state.count++;
      state.characters += object?.data.length ?? 0; // exact again when the part is written
      this.#partOf.set(path, at);
      const some = byPart.get(at) ?? new Map<string, DavObject | null>();
      byPart.set(at, some.set(path, object));
    }
    return byPart;
  }

  #partWithRoom(): number {
    const found = this.#parts.findIndex(
      ({ count, characters }) => count < PART_OBJECTS && characters < PART_CHARACTERS,
    );
    return found < 0 ? this.#parts.length : found;
  }

  async #writePart(at: number, changes: ObjectChanges): Promise<void> {
    const part = new Map(Object.entries(await this.#load(at)));
    for (const [path, object] of changes) {
      if (object) part.set(path, object);
      else {
        part.delete(path);
        this.#partOf.delete(path);
      }
    }
    this.#parts[at] = stateOf([...part]);
    await this.#disk.storage.set(this.#keyOf(at), Object.fromEntries(part));
  }

  async #load(at: number): Promise<Part> {
    return ((await this.#disk.storage.get(this.#keyOf(at))) ?? {}) as Part;
  }

  #keyOf(at: number): string {
    return `${this.#disk.key}-${at}`;
  }
}

function stateOf(part: readonly (readonly [string, DavObject])[]): PartState {
  const characters = part.reduce((sum, [, { data }]) => sum + data.length, 0);
  return { count: part.length, characters };
}
