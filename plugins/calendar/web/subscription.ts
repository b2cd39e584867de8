import { createHash } from "node:crypto";
import type { Log, Storage } from "@mantel/plugin-sdk";
import type { WebOptions } from "../options.ts";
import { parseFile } from "../parsed-file.ts";
import type { Source } from "../source.ts";
import { fingerprintIn } from "./certificate.ts";
import { type Download, download } from "./download.ts";
import { Poll } from "./poll.ts";

export interface SubscriptionOptions {
  readonly feed: WebOptions;
  readonly source: Source;
  readonly refreshMs: number;
  readonly storage: Storage;
  readonly log: Log;
  readonly changed: () => void;
  /** Stops the subscription. */
  readonly signal: AbortSignal;
}

/** Validators of a calendar for conditional requests. */
interface Validators {
  readonly etag?: string | undefined;
  readonly lastModified?: string | undefined;
}

/**
 * The stored copy of a calendar, so that it is shown immediately after a restart and requested
 * conditionally.
 */
interface CachedFeed extends Validators {
  /** The time at which this content came, so also its last change. */
  readonly fetchedAt: string;
  /** Base64. */
  readonly body: string;
}

/** Every change of the state costs the host a message. */
const PROGRESS_EVERY_MS = 3_000;

/** One calendar on the web, read at intervals and stored on disk. */
export class Subscription {
  readonly #options: SubscriptionOptions;
  readonly #key: string;
  readonly #poll: Poll;
  #validators: Validators = {};
  /** Digest of the shown content. */
  #digest: string | undefined;

  constructor(options: SubscriptionOptions) {
    this.#options = options;
    this.#key = storageKey(options.feed);
    this.#poll = new Poll({
      ...options,
      id: options.feed.id,
      read: () => this.#read(),
      failed: (reason, error) => options.source.fail(reason, fingerprintIn(error)),
    });
  }

  /** Shows the stored copy, if there is one, as stale until the server has answered. */
  async restore(): Promise<void> {
    const { source, storage } = this.#options;
    const stored = (await storage.get(this.#key)) as Partial<CachedFeed> | undefined;
    if (typeof stored?.body !== "string" || typeof stored.fetchedAt !== "string") return;
    try {
      const bytes = Buffer.from(stored.body, "base64");
      const fetchedAt = new Date(stored.fetchedAt);
      const files = [await parseFile(bytes)];
      await source.restore(files, fetchedAt, { changedAt: fetchedAt, leftOut: [] });
      this.#digest = digestOf(bytes);
      this.#validators = { etag: stored.etag, lastModified: stored.lastModified };
    } catch {
      await storage.delete(this.#key); // it is downloaded completely then
    }
  }

  /** Polls the calendar until the signal aborts. Never rejects. */
  run(): Promise<void> {
    return this.#poll.run();
  }

  has(id: string): boolean {
    return id === this.#options.source.id;
  }

  /** Reads the calendar once. The source shows failures. */
  refresh(): Promise<void> {
    return this.#poll.once();
  }

  async #read(): Promise<true> {
    const { feed, source, changed, signal } = this.#options;
    let toldAt = performance.now();
    const onProgress = (done: number, total: number | null) => {
      if (performance.now() - toldAt < PROGRESS_EVERY_MS) return;
      toldAt = performance.now();
      source.readsOn({ done, total, unit: "bytes" });
      changed();
    };
    await this.#take(await download({ ...feed, ...this.#validators, onProgress, signal }));
    return true;
  }

  async #take({ bytes, etag, lastModified }: Download): Promise<void> {
    const { source, storage, log } = this.#options;
    const now = new Date();
    if (!bytes) return source.confirm(now);
    const digest = digestOf(bytes);
    if (digest !== this.#digest) await source.read([bytes], now);
    this.#validators = { etag, lastModified };
    if (digest === this.#digest) return source.confirm(now);
    this.#digest = digest;
    const body = Buffer.from(bytes).toString("base64");
    const cached: CachedFeed = { ...this.#validators, fetchedAt: now.toISOString(), body };
    await storeCalendar({ storage, log }, this.#key, cached);
  }
}

/**
 * The same digest for calendars with the same content. Servers without validators, such as
 * Google's, send an unchanged calendar with new timestamps each time, and processing and storing it
 * again would wear out the disk.
 */
function digestOf(bytes: Uint8Array): string {
  const text = Buffer.from(bytes)
    .toString("latin1")
    .replace(/^DTSTAMP[:;].*$/gim, "");
  return createHash("sha256").update(text, "latin1").digest("base64");
}

/** Stores the calendar. If the disk is full, it is only missing after a restart. */
export async function storeCalendar(
  { storage, log }: { readonly storage: Storage; readonly log: Log },
  key: string,
  value: object,
): Promise<void> {
  try {
    await storage.set(key, value);
  } catch (error) {
    log.error("could not store the calendar", { error });
  }
}

/** The storage key of a web calendar. Another address or user is another calendar. */
export function storageKey({ url, username }: Pick<WebOptions, "url" | "username">): string {
  const hash = createHash("sha256")
    .update(JSON.stringify([url, username]))
    .digest("hex");
  return `feed-${hash.slice(0, 32)}`;
}

/** Removes stored calendars with other keys than these, including their parts. */
export async function removeUnusedCalendars(
  storage: Storage,
  keys: readonly string[],
): Promise<void> {
  const storedKeys = await storage.get("feeds");
  for (const key of textsOf(storedKeys)) if (!keys.includes(key)) await forget(storage, key);
  if (textsOf(storedKeys).join() !== keys.join()) await storage.set("feeds", keys);
}

/** Forgets a calendar; an account has its collections as parts, and those have parts of their own. */
async function forget(storage: Storage, key: string): Promise<void> {
  const { parts } = ((await storage.get(key)) ?? {}) as { parts?: unknown };
  for (const part of textsOf(parts)) await forget(storage, part);
  await storage.delete(key);
}

function textsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === "string") : [];
}
