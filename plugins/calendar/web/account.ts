import { createHash } from "node:crypto";
import {
  type Log,
  MantelError,
  Semaphore,
  sentence,
  type Sentence,
  type Storage,
} from "@mantel/plugin-sdk";
import { parseColor } from "../color.ts";
import { slugOf } from "../files/folder.ts";
import { addressesOf, transferMs, type WebOptions } from "../options.ts";
import { reasonOf } from "../reason.ts";
import { firstNames } from "../skipped-files.ts";
import { Source, type SourceOptions } from "../source.ts";
import { fingerprintIn } from "./certificate.ts";
import { Collection, type StoredCollection } from "./collection.ts";
import { DavObjects, type ObjectStore } from "./dav-objects.ts";
import {
  type CalendarServer,
  type DavCollection,
  type DavHome,
  type DavKind,
  DavServer,
  nameOf,
} from "./dav.ts";
import { GoogleCalendars } from "./google.ts";
import { GraphObjects } from "./graph-objects.ts";
import { GRAPH_DAYS, GraphServer } from "./graph.ts";
import { Poll } from "./poll.ts";
import { storeCalendar, storageKey } from "./subscription.ts";

export type AccountKind = DavKind | "google" | "microsoft";

export interface AccountOptions {
  readonly account: WebOptions;
  readonly kind: AccountKind;
  readonly refreshMs: number;
  readonly storage: Storage;
  readonly log: Log;
  readonly shared: Pick<SourceOptions, "floating" | "locale">;
  /** Ids that other calendars have. */
  readonly taken: ReadonlySet<string>;
  readonly add: (source: Source) => void;
  readonly remove: (id: string) => void;
  readonly changed: () => void;
  /** Ends the account. */
  readonly signal: AbortSignal;
}

/** A calendar whose events and tasks can be changed at its server. */
export interface WritableCalendar {
  readonly url: string;
  /** True if it can have tasks. */
  readonly hasTasks: boolean;
  readonly objects: ObjectStore;
  readonly source: Source;
  /** The path of the object of an event or task; `undefined` if it was not read yet. */
  readonly pathOf: (uid: string) => string | undefined;
  /** Shows what was changed. */
  readonly readChanges: () => Promise<void>;
  /** Looks again which calendars the account has, and where. */
  readonly lookAgain: () => Promise<void>;
}

/** The stored state of an account. */
interface CachedAccount {
  readonly home: DavHome;
  readonly collections: readonly StoredCollection[];
  /** Storage keys of the collections' content. */
  readonly parts: readonly string[];
  /** Mail addresses of the user, as the server tells them. */
  readonly addresses?: readonly string[];
}

/** Maximum collections of one account; each costs requests and processing. */
const MAX_COLLECTIONS = 50;
const COLLECTIONS_AT_ONCE = 4;

/**
 * A CalDAV, CardDAV or Microsoft account: each of its calendars or address books is a separate source. If some
 * are not shown, a source with the account's own id shows the reason. An unchanged account costs
 * one request.
 */
export class Account {
  readonly #options: AccountOptions;
  readonly #server: CalendarServer;
  readonly #store: ObjectStore;
  readonly #poll: Poll;
  readonly #key: string;
  readonly #collections = new Map<string, Collection>();
  /** Stands for what the account has, or may have, and does not show. */
  #placeholder: Source | undefined;
  #home: DavHome | undefined;
  /** Mail addresses of the user, as the server tells them; `undefined` if they are not known or not needed. */
  #addresses: readonly string[] | undefined;
  /** True once the collections are known; what fails then is the matter of one of them. */
  #listed = false;

  constructor(options: AccountOptions) {
    const { account, kind, signal } = options;
    this.#options = options;
    const address = { ...account, url: account.url.replace(/^webcals?:/i, "https:") };
    if (kind === "microsoft") {
      this.#server = new GraphServer(address, signal);
      this.#store = new GraphObjects(address, options.shared.floating, signal);
    } else if (kind === "google") {
      const google = new GoogleCalendars(address, options.shared.floating, signal);
      this.#server = this.#store = google;
    } else {
      this.#server = new DavServer(address, kind, signal);
      this.#store = new DavObjects(address, signal);
    }
    this.#key = storageKey(account);
    this.#poll = new Poll({
      ...options,
      id: account.id,
      read: () => this.#read(),
      failed: (reason, error) => this.#failAll(reason, fingerprintIn(error)),
    });
  }

  /** Shows what was kept, as stale until it has been asked for again. */
  async restore(): Promise<void> {
    const stored = (await this.#options.storage.get(this.#key)) as
      | Partial<CachedAccount>
      | undefined;
    if (stored?.home && Array.isArray(stored.collections)) {
      this.#home = stored.home;
      this.#addresses = stored.addresses;
      const opened = stored.collections.map((each) => this.#open(each));
      for (const each of opened) await each.restore();
    }
    if (this.#collections.size === 0) this.#showPlaceholder();
  }

  /** Reads the account again and again, until the signal ends it. Never rejects. */
  run(): Promise<void> {
    return this.#poll.run();
  }

  /** True for the id of one of its calendars, and of the account itself. */
  has(id: string): boolean {
    const ids = [...this.#collections.values()].map(({ source }) => source.id);
    return id === this.#options.account.id || ids.includes(id);
  }

  /** The calendar with this source; `undefined` if it is not one of the account's. */
  calendarOf(sourceId: string): WritableCalendar | undefined {
    const found = [...this.#collections.values()].find(({ source }) => source.id === sourceId);
    if (!found || !this.#isWritable(found.kept)) return undefined;
    const { account, changed } = this.#options;
    return {
      url: found.kept.url,
      hasTasks: found.kept.hasTasks === true,
      objects: this.#store,
      source: found.source,
      pathOf: (uid) => found.pathOf(uid),
      readChanges: async () => {
        const now = () => performance.now();
        const reading = { now, endsAt: now() + transferMs(account), shown: changed };
        await found.readChanges(this.#server, reading);
      },
      lookAgain: () => this.refresh(),
    };
  }

  /** The calendars that can have tasks, with those that they have. */
  get taskLists(): readonly Pick<Collection, "source" | "tasks">[] {
    return [...this.#collections.values()].filter(({ kept }) => kept.hasTasks === true);
  }

  /** Reads the account once. What fails is shown by the sources. */
  refresh(): Promise<void> {
    return this.#poll.once();
  }

  /** False if there is more to read of a large calendar. */
  async #read(): Promise<boolean> {
    this.#listed = false;
    const left = this.#options.account.leaveOut ?? [];
    const all = (await this.#list()).filter((each) => !left.includes(nameOf(each)));
    const found = all.slice(0, MAX_COLLECTIONS);
    this.#listed = true;
    await this.#adopt(found);
    if (all.length > found.length) this.#showPlaceholder().fail(tooMany(all));
    else if (found.length > 0) this.#removePlaceholder();
    else this.#showPlaceholder().fail(NO_CALENDARS);
    return this.#update(found);
  }

  /** Some calendars are read at the same time, so that a slow one does not keep the others waiting. */
  async #update(found: readonly DavCollection[]): Promise<boolean> {
    const slots = new Semaphore(COLLECTIONS_AT_ONCE);
    const { account, changed } = this.#options;
    const now = () => performance.now();
    const endsAt = now() + transferMs(account);
    const faults: unknown[] = [];
    let isWhole = true;
    const updates = found.map(async ({ url, tag }) => {
      await slots.take();
      const collection = this.#collections.get(url);
      try {
        const reading = { endsAt, now, shown: changed };
        if ((await collection?.update(this.#server, tag, reading)) === false) isWhole = false;
      } catch (error) {
        collection?.source.fail(reasonOf(error));
        faults.push(error);
      } finally {
        slots.giveBack();
        changed();
      }
    });
    await Promise.all(updates);
    if (faults.length > 0) throw faults[0];
    return isWhole;
  }

  /** A home that has moved is looked for again. */
  async #list(): Promise<DavCollection[]> {
    if (this.#home) {
      try {
        return await this.#server.collections(this.#home);
      } catch (error) {
        if (!(error instanceof MantelError) || !/\((404|410)\)/.test(error.message)) throw error;
      }
    }
    this.#home = await this.#server.discover();
    return this.#server.collections(this.#home);
  }

  /** Takes over which collections there are. */
  async #adopt(found: readonly DavCollection[]): Promise<void> {
    const before = JSON.stringify(this.#kept);
    await this.#findAddresses();
    await this.#dropAllBut(new Set(found.map(({ url }) => url)));
    for (const { url, name, color, hasTasks, isReadOnly } of found) {
      const known = this.#collections.get(url);
      const looks = { name, color, hasTasks, isReadOnly };
      if (!known) await this.#open({ id: this.#idFor(url, name), url, ...looks }).restore();
      else if (!known.looksLike(looks)) {
        known.rename(looks);
        known.source.rename(this.#looksOf(looks));
      }
    }
    const after = this.#kept;
    if (after && JSON.stringify(after) !== before)
      await storeCalendar(this.#options, this.#key, after);
  }

  /** Asks for the addresses of a user whose name is not one, once. */
  async #findAddresses(): Promise<void> {
    const { account, kind } = this.#options;
    if (this.#addresses || !this.#home || kind !== "caldav") return;
    if (account.mailAddresses || addressesOf(account).length > 0) return;
    this.#addresses = await this.#server.userAddresses(this.#home);
  }

  async #dropAllBut(urls: ReadonlySet<string>): Promise<void> {
    for (const [url, collection] of this.#collections) {
      if (urls.has(url)) continue;
      this.#collections.delete(url);
      this.#options.remove(collection.source.id);
      await collection.forget();
    }
  }

  #open(kept: StoredCollection): Collection {
    const { account, storage, log, shared, add } = this.#options;
    const { name: _, ...settings } = account;
    const source = new Source({
      ...shared,
      id: kept.id,
      settings: this.#home?.single ? account : settings,
      addresses: [...addressesOf(account), ...(this.#addresses ?? [])],
      daysRead: this.#options.kind === "microsoft" ? GRAPH_DAYS : undefined,
      ...this.#looksOf(kept),
    });
    const key = storageKey({ ...account, url: `content of ${kept.url}` });
    const collection = new Collection({ kept, source, storage, log, key });
    this.#collections.set(kept.url, collection);
    add(source);
    return collection;
  }

  #looksOf({ name, color, hasTasks, isReadOnly }: Omit<StoredCollection, "id" | "url">) {
    const { account } = this.#options;
    return {
      fallbackName: name ?? account.name ?? account.id,
      fallbackColor: parseColor(color) ?? undefined,
      hasTasks,
      writable: this.#isWritable({ isReadOnly }),
    };
  }

  #isWritable({ isReadOnly = false }: Pick<StoredCollection, "isReadOnly">): boolean {
    return this.#options.kind !== "carddav" && !isReadOnly;
  }

  /** Lasting, whatever the collection is called later. */
  #idFor(url: string, name: string | undefined): string {
    const { id } = this.#options.account;
    if (this.#home?.single) return id;
    const own = [...this.#collections.values()].map(({ source }) => source.id);
    const taken = new Set([...this.#options.taken, ...own]);
    const hash = createHash("sha256").update(url).digest("hex").slice(0, 8);
    const readable = `${id}-${slugOf(name ?? "") || hash}`;
    return taken.has(readable) ? `${readable}-${hash}` : readable;
  }

  #failAll(reason: Sentence, fingerprint: string | undefined): void {
    if (this.#listed) return; // each has its own
    if (this.#collections.size === 0 || this.#placeholder) {
      this.#showPlaceholder().fail(reason, fingerprint);
    }
    for (const { source } of this.#collections.values()) source.fail(reason, fingerprint);
  }

  /** Says under the account's own id why something of it is not shown. */
  #showPlaceholder(): Source {
    if (!this.#placeholder) {
      const { account, shared, add } = this.#options;
      const { id } = account;
      this.#placeholder = new Source({ ...shared, id, settings: account, fallbackName: id });
      add(this.#placeholder);
    }
    return this.#placeholder;
  }

  #removePlaceholder(): void {
    const id = this.#placeholder?.id;
    this.#placeholder = undefined;
    const isTaken = [...this.#collections.values()].some(({ source }) => source.id === id);
    if (id !== undefined && !isTaken) this.#options.remove(id);
  }

  get #kept(): CachedAccount | undefined {
    if (!this.#home) return undefined;
    const collections = [...this.#collections.values()];
    return {
      home: this.#home,
      collections: collections.map(({ kept }) => kept),
      parts: collections.map(({ key }) => key),
      ...(this.#addresses && { addresses: this.#addresses }),
    };
  }
}

const NO_CALENDARS = sentence("empty_account", "the account has no calendars: create one there");

function tooMany(all: readonly DavCollection[]): Sentence {
  const names = all.slice(MAX_COLLECTIONS).map(({ name, url }) => name ?? new URL(url).pathname);
  return sentence(
    "too_many_calendars",
    "the account has {count} calendars: {most} are shown, and not {names}. Give their own addresses as calendars",
    { count: all.length, most: MAX_COLLECTIONS, names: firstNames(names) },
  );
}
