import { DelayedCall, type Log, MantelError, sentence, type Storage } from "@mantel/plugin-sdk";
import { isStale, type StoredObjects, stampIn, tagOf } from "./stored-objects.ts";
import type { WritableCalendar } from "./web/account.ts";
import type { StoredObject } from "./web/dav-objects.ts";

/**
 * A change of two objects: first `added` is stored, then `original` loses what is in it. In between an event is in both,
 * so that it is never in neither of them.
 */
export interface TwoStepChange {
  readonly added: { readonly calendarId: string; readonly url: string; readonly stamp: string };
  readonly original: {
    readonly calendarId: string;
    readonly uid: string;
    readonly url: string;
    /** The entity tag before the change. */
    readonly tag: string;
    /** The stamp, and a text, that the object has after the change; absent if it is removed. */
    readonly after?: { readonly stamp: string; readonly mark: string };
  };
}

type Outcome = "done" | "undone";

interface UnfinishedChangesDependencies {
  readonly storage: Storage;
  readonly objects: Pick<StoredObjects, "erase" | "inTurn" | "show">;
  /** The calendar with this id; `undefined` if it does not exist. */
  readonly find: (id: string) => WritableCalendar | undefined;
  readonly log: Log;
  /** Delay before an attempt, by the number of attempts before; absent means from 10 s to 5 minutes. */
  readonly delayMs?: (attempt: number) => number;
}

const KEY = "unfinished";
const FIRST_DELAY_MS = 10_000;
const LONGEST_DELAY_MS = 300_000;

/**
 * Changes of two objects that have begun. They are on the disk, so that one that was cut short, by a server that went
 * away or by the end of this process, is finished or undone later: no event stays in two places.
 */
export class UnfinishedChanges {
  readonly #parts: UnfinishedChangesDependencies;
  #open: readonly TwoStepChange[] = [];
  readonly #next = new DelayedCall(() => void this.#settleAll());
  #attempts = 0;
  #isClosed = false;

  constructor(parts: UnfinishedChangesDependencies) {
    this.#parts = parts;
  }

  /** Continues with what a previous process has left. */
  async start(): Promise<void> {
    const stored = await this.#parts.storage.get(KEY);
    this.#open = Array.isArray(stored) ? (stored as TwoStepChange[]) : [];
    if (this.#open.length > 0) this.#next.start(0);
  }

  close(): void {
    this.#isClosed = true;
    this.#next.stop();
  }

  /**
   * Carries out both steps. After a failure it finishes or undoes the change, now or later.
   * @throws MantelError of the steps; `service_unavailable` if nothing is saved
   */
  async carryOut<T>(change: TwoStepChange, steps: () => Promise<T>): Promise<T | undefined> {
    await this.#begin(change);
    try {
      const result = await steps();
      await this.#forget(change);
      return result;
    } catch (error) {
      const outcome = await this.#settle(change).catch(() => undefined);
      if (outcome === "done") return undefined;
      if (outcome === undefined) this.#retry();
      const isUnknown = error instanceof MantelError && error.code === "outcome_unknown";
      throw outcome === "undone" && isUnknown ? nothingSaved() : error;
    }
  }

  /**
   * Finishes or undoes what has begun with an object, in whose turn it is called, before it is changed again.
   * @throws MantelError `service_unavailable` if its server does not let that happen now
   */
  async settleBefore(calendarId: string, uid: string): Promise<void> {
    for (const change of this.#open) {
      const { original } = change;
      if (original.calendarId !== calendarId || original.uid !== uid) continue;
      const outcome = await this.#settle(change).catch(() => undefined);
      if (!outcome) throw triedLater();
    }
  }

  async #settleAll(): Promise<void> {
    for (const change of this.#open) {
      const { original, added } = change;
      const calendar = this.#parts.find(original.calendarId);
      if (!calendar) continue;
      const settling = this.#parts.objects.inTurn(calendar, original.uid, async () =>
        this.#open.includes(change) ? this.#settle(change) : undefined,
      );
      const outcome = await settling.catch(() => undefined);
      const target = this.#parts.find(added.calendarId);
      if (outcome) await this.#parts.objects.show(calendar, ...(target ? [target] : []));
    }
    if (this.#open.length > 0) this.#retry();
    else this.#attempts = 0;
  }

  #retry(): void {
    const { delayMs = usualDelayMs } = this.#parts;
    if (!this.#isClosed) this.#next.start(delayMs(this.#attempts++));
  }

  /**
   * Looks at the server how far a change came. One whose second step is not done is undone, unless somebody has changed
   * the added object. Throws if the server does not tell.
   */
  async #settle(change: TwoStepChange): Promise<Outcome | undefined> {
    const { find, objects, log } = this.#parts;
    const { original, added } = change;
    const [from, to] = [find(original.calendarId), find(added.calendarId)];
    if (!from || !to) return undefined; // the account may be listed later
    const now = await from.objects.load(original.url);
    const isDone = original.after
      ? now !== undefined && (hasStamp(now.bytes, original.after) || hasMark(now.bytes, original))
      : now === undefined;
    if (!isDone) {
      const url = placeOf(to, added);
      const copy = await to.objects.load(url);
      if (copy && isOurs(copy, to, added)) {
        await objects.erase(to, { ...copy, url }).catch(unlessChanged);
      } else if (copy) log.warn("an event is in two calendars, because both were changed", {});
    }
    await this.#forget(change);
    return isDone ? "done" : "undone";
  }

  /** @throws MantelError `disk_full` */
  async #begin(change: TwoStepChange): Promise<void> {
    this.#open = [...this.#open, change];
    try {
      await this.#parts.storage.set(KEY, this.#open);
    } catch (error) {
      this.#open = this.#open.filter((each) => each !== change);
      throw error;
    }
  }

  /** If that cannot be stored, the next process finds that nothing is left to do. */
  async #forget(change: TwoStepChange): Promise<void> {
    this.#open = this.#open.filter((each) => each !== change);
    await this.#parts.storage.set(KEY, this.#open).catch((error: unknown) => {
      this.#parts.log.warn("could not store that a change is finished", { error });
    });
  }
}

type Added = TwoStepChange["added"];

/** The address of an added object, which some servers choose; its name is the UID. */
function placeOf({ pathOf, url }: WritableCalendar, added: Added): string {
  const name = added.url.slice(added.url.lastIndexOf("/") + 1);
  const path = pathOf(decodeURIComponent(name).replace(/\.ics$/, ""));
  return path === undefined ? added.url : new URL(path, url).href;
}

/** A server that keeps no stamps keeps the UID. */
function isOurs({ bytes }: StoredObject, { objects }: WritableCalendar, { stamp }: Added): boolean {
  const found = stampIn(bytes);
  return found === stamp || (objects.has !== undefined && stamp.split(",").includes(found));
}

type After = NonNullable<TwoStepChange["original"]["after"]>;

function hasStamp(bytes: Uint8Array, { stamp }: After): boolean {
  return stampIn(bytes) === stamp;
}

/** Somebody else may have changed the object since. */
function hasMark(bytes: Uint8Array, { tag, after }: TwoStepChange["original"]): boolean {
  const text = Buffer.from(bytes)
    .toString("latin1")
    .replaceAll(/\r?\n[ \t]/g, "");
  return after !== undefined && tagOf({ bytes }) !== tag && text.includes(after.mark);
}

function unlessChanged(error: unknown): void {
  if (!isStale(error)) throw error;
}

function usualDelayMs(attempt: number): number {
  return Math.min(FIRST_DELAY_MS * 2 ** attempt, LONGEST_DELAY_MS);
}

function nothingSaved(): MantelError {
  const told = sentence("nothing_saved", "the server did not answer in time; nothing is saved");
  return new MantelError("service_unavailable", told, { retryAfterMs: FIRST_DELAY_MS });
}

function triedLater(): MantelError {
  const told = sentence(
    "unfinished",
    "an earlier change of this event is not finished: try again when its server answers",
  );
  return new MantelError("service_unavailable", told, { retryAfterMs: FIRST_DELAY_MS });
}
