import { createHash } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import { type Log, MantelError, type Storage } from "@mantel/plugin-sdk";
import { type Download, download } from "./download.ts";
import type { FeedOptions } from "./options.ts";
import type { Source } from "./source.ts";

export interface SubscriptionOptions {
  readonly feed: FeedOptions;
  readonly source: Source;
  readonly refreshMs: number;
  readonly storage: Storage;
  readonly log: Log;
  readonly changed: () => void;
  /** Ends the subscription. */
  readonly signal: AbortSignal;
}

/** What a server gave with a calendar, to ask later whether it has changed. */
interface Validators {
  readonly etag?: string | undefined;
  readonly lastModified?: string | undefined;
}

/** What is kept of a calendar between runs, so that it is shown at once and asked for conditionally. */
interface Kept extends Validators {
  readonly fetchedAt: string;
  /** Base64. */
  readonly body: string;
}

/** After a failure it is tried again this soon, then half as often each time. */
const FIRST_RETRY_MS = 30_000;

/** One calendar on the web: read now and then, and remembered on the disk. */
export class Subscription {
  readonly #options: SubscriptionOptions;
  readonly #key: string;
  #validators: Validators = {};
  #failures = 0;

  constructor(options: SubscriptionOptions) {
    this.#options = options;
    this.#key = storageKey(options.feed);
  }

  /** Shows what was kept, when there is something. */
  async restore(): Promise<void> {
    const { source, storage } = this.#options;
    const kept = (await storage.get(this.#key)) as Partial<Kept> | undefined;
    if (typeof kept?.body !== "string" || typeof kept.fetchedAt !== "string") return;
    try {
      await source.read(Buffer.from(kept.body, "base64"), new Date(kept.fetchedAt));
      this.#validators = { etag: kept.etag, lastModified: kept.lastModified };
    } catch {
      await storage.delete(this.#key); // it is fetched whole then
    }
  }

  /** Reads the calendar again and again, until the signal ends it. Never rejects. */
  async run(): Promise<void> {
    const { refreshMs, signal } = this.#options;
    while (!signal.aborted) {
      await this.refresh();
      const retry = FIRST_RETRY_MS * 2 ** (this.#failures - 1);
      const pause = this.#failures === 0 ? refreshMs : Math.min(refreshMs, retry);
      await setTimeout(pause, undefined, { signal }).catch(() => undefined); // ended
    }
  }

  /** Reads the calendar once. What fails is shown by the source. */
  async refresh(): Promise<void> {
    const { feed, source, log, changed, signal } = this.#options;
    try {
      await this.#take(await download({ ...feed, ...this.#validators, signal }));
      if (this.#failures > 0) log.info("calendar can be read again", { calendar: feed.id });
      this.#failures = 0;
    } catch (error) {
      if (signal.aborted) return;
      const reason = error instanceof MantelError ? error.message : "the calendar cannot be read";
      if (++this.#failures === 1)
        log.warn("calendar cannot be read", { calendar: feed.id, reason });
      source.fail(reason);
    }
    changed();
  }

  async #take({ bytes, etag, lastModified }: Download): Promise<void> {
    const { source, storage } = this.#options;
    const now = new Date();
    if (!bytes) {
      source.confirm(now);
      return;
    }
    await source.read(bytes, now);
    this.#validators = { etag, lastModified };
    const body = Buffer.from(bytes).toString("base64");
    const kept: Kept = { ...this.#validators, fetchedAt: now.toISOString(), body };
    await storage.set(this.#key, kept);
  }
}

/** Where a calendar is kept. Another address is another calendar. */
function storageKey({ url, username }: FeedOptions): string {
  const hash = createHash("sha256")
    .update(JSON.stringify([url, username]))
    .digest("hex");
  return `feed-${hash.slice(0, 32)}`;
}

/** Removes what is kept of calendars that are no longer wanted. */
export async function sweepKept(storage: Storage, wanted: readonly FeedOptions[]): Promise<void> {
  const keys = wanted.map(storageKey);
  const kept = await storage.get("feeds");
  const before = Array.isArray(kept) ? kept.filter((key) => typeof key === "string") : [];
  for (const key of before) if (!keys.includes(key)) await storage.delete(key);
  if (before.join() !== keys.join()) await storage.set("feeds", keys);
}
