import { createHash } from "node:crypto";
import type { Log, Storage } from "@mantel/plugin-sdk";
import type { WebOptions } from "../options.ts";
import type { Source } from "../source.ts";
import { type Download, download } from "./download.ts";
import { Poll } from "./poll.ts";

export interface SubscriptionOptions {
  readonly feed: WebOptions;
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

/** One calendar on the web: read now and then, and remembered on the disk. */
export class Subscription {
  readonly #options: SubscriptionOptions;
  readonly #key: string;
  readonly #poll: Poll;
  #validators: Validators = {};
  /** Of the content that is shown. */
  #digest: string | undefined;

  constructor(options: SubscriptionOptions) {
    this.#options = options;
    this.#key = storageKey(options.feed);
    this.#poll = new Poll({
      ...options,
      id: options.feed.id,
      read: () => this.#read(),
      failed: (reason) => options.source.fail(reason),
    });
  }

  /** Shows what was kept, when there is something, as stale until it has been asked for again. */
  async restore(): Promise<void> {
    const { source, storage } = this.#options;
    const kept = (await storage.get(this.#key)) as Partial<Kept> | undefined;
    if (typeof kept?.body !== "string" || typeof kept.fetchedAt !== "string") return;
    try {
      const bytes = Buffer.from(kept.body, "base64");
      await source.read([bytes], new Date(kept.fetchedAt));
      source.fail(NOT_ASKED_YET);
      this.#digest = digestOf(bytes);
      this.#validators = { etag: kept.etag, lastModified: kept.lastModified };
    } catch {
      await storage.delete(this.#key); // it is fetched whole then
    }
  }

  /** Reads the calendar again and again, until the signal ends it. Never rejects. */
  run(): Promise<void> {
    return this.#poll.run();
  }

  /** Reads the calendar once. What fails is shown by the source. */
  refresh(): Promise<void> {
    return this.#poll.once();
  }

  async #read(): Promise<void> {
    const { feed, signal } = this.#options;
    await this.#take(await download({ ...feed, ...this.#validators, signal }));
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
    const kept: Kept = { ...this.#validators, fetchedAt: now.toISOString(), body };
    await keep({ storage, log }, this.#key, kept);
  }
}

/**
 * The same for calendars that say the same. Servers without validators, such as Google's, send an unchanged calendar
 * with new stamps each time; to work it out and keep it again would wear the disk for nothing.
 */
function digestOf(bytes: Uint8Array): string {
  const text = Buffer.from(bytes)
    .toString("latin1")
    .replace(/^DTSTAMP[:;].*$/gim, "");
  return createHash("sha256").update(text, "latin1").digest("base64");
}

/** Keeps what was read. A disk that is full costs what is shown after a restart, and nothing now. */
export async function keep(
  { storage, log }: { readonly storage: Storage; readonly log: Log },
  key: string,
  value: object,
): Promise<void> {
  try {
    await storage.set(key, value);
  } catch (error) {
    log.error("calendar cannot be kept for the next start", { error });
  }
}

/** Why a calendar is stale that is shown as it was kept. */
export const NOT_ASKED_YET =
  "it is shown as it was before the restart, until its server has answered";

/** Where something on the web is kept. Another address or user is another calendar. */
export function storageKey({ url, username }: Pick<WebOptions, "url" | "username">): string {
  const hash = createHash("sha256")
    .update(JSON.stringify([url, username]))
    .digest("hex");
  return `feed-${hash.slice(0, 32)}`;
}

/** Removes what is kept under other keys than these, with the parts that it names. */
export async function sweepKept(storage: Storage, keys: readonly string[]): Promise<void> {
  const kept = await storage.get("feeds");
  for (const key of textsOf(kept)) if (!keys.includes(key)) await forget(storage, key);
  if (textsOf(kept).join() !== keys.join()) await storage.set("feeds", keys);
}

async function forget(storage: Storage, key: string): Promise<void> {
  const { parts } = ((await storage.get(key)) ?? {}) as { parts?: unknown };
  for (const part of textsOf(parts)) await storage.delete(part);
  await storage.delete(key);
}

function textsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === "string") : [];
}
