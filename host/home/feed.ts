import type { Cause } from "@mantel/plugin-sdk/cause";
import type { Device } from "@mantel/plugin-sdk/device";
import { MantelError } from "@mantel/plugin-sdk/errors";
import { selects, type DeviceSelector } from "@mantel/plugin-sdk/home";
import type {
  FollowRequest,
  HomeBatch,
  HomeOccurrences,
  SentChange,
} from "@mantel/plugin-sdk/home-protocol";
import {
  EachChange,
  NewestChanges,
  type WaitingChange,
  type WaitingChanges,
} from "@mantel/plugin-sdk/waiting-changes";

/** Devices in one message; the process parses them in about a millisecond. */
const DEVICES_AT_ONCE = 100;
const MOST_FOLLOWERS = 200;
const MOST_EVENTS = 1_000;
const RETRY_MS = 1_000;

/** A changed device as the home announces it. */
export type Announced = Pick<WaitingChange, "device" | "old" | "cause">;

/** A momentary event, and the followers that get it. */
export type Occurrence = {
  [W in keyof HomeOccurrences]: { readonly what: W; readonly event: HomeOccurrences[W] };
}[keyof HomeOccurrences];

export interface FeedDependencies {
  /** Sends a batch to the process. Resolves when it has taken it. */
  readonly send: (batch: HomeBatch) => Promise<void>;
  /** True for devices that the plugin may read. */
  readonly mayRead: (id: string) => boolean;
  /** The device as it was announced last. */
  readonly find: (id: string) => Device | undefined;
  readonly warn: (sentence: string, fields: Readonly<Record<string, unknown>>) => void;
  /** Called for each change, failure and scene that is sent. */
  readonly sent: (id: string, cause: Cause | undefined) => void;
}

interface Follower {
  readonly selector: DeviceSelector;
  readonly what: FollowRequest["what"];
  readonly changes: WaitingChanges;
  events: Occurrence["event"][];
}

/** The changes that one process has not taken. */
export interface Unsent {
  readonly newest: readonly WaitingChange[];
  /** Of a follower that gets each change; `undefined` without one. */
  readonly each: readonly WaitingChange[] | undefined;
}

/**
 * Sends changed devices to one process, within what its manifest permits. One batch is in flight at a time; meanwhile
 * of each device only the newest state waits, so that a slow process costs at most an entry per device; for a follower
 * that gets each change, as many as `EachChange` has.
 */
export class HomeFeed {
  readonly #parts: FeedDependencies;
  readonly #followers = new Map<number, Follower>();
  #isSending = false;
  #retry: NodeJS.Timeout | undefined;
  #droppedEvents = 0;

  constructor(parts: FeedDependencies) {
    this.#parts = parts;
  }

  get isUsed(): boolean {
    return this.#followers.size > 0;
  }

  /**
   * Adds a follower. `devices` is the home as it is; `missed` are changes since the previous generation ended.
   * @throws MantelError `rate_limited` for too many followers
   */
  follow(
    { follower, selector, what, each = false }: FollowRequest,
    devices: Iterable<Device>,
    missed: readonly WaitingChange[],
  ): void {
    if (this.#followers.size >= MOST_FOLLOWERS) {
      const sentence = `a plugin has at most ${MOST_FOLLOWERS} listeners of the home; stop some, or follow "*" once`;
      throw new MantelError("rate_limited", sentence);
    }
    const changes = each ? new EachChange((count) => this.#warnMerged(count)) : new NewestChanges();
    const added: Follower = { selector, what, changes, events: [] };
    this.#followers.set(follower, added);
    if (what === "devices") {
      for (const device of devices) {
        if (!this.#concerns(added, device)) continue;
        const { id } = device;
        changes.add({ id, device, old: undefined, cause: undefined, isInitial: true });
      }
    }
    if (what === "changes") for (const change of missed) this.#add(added, change);
    this.#pump();
  }

  unfollow(follower: number): void {
    this.#followers.delete(follower);
  }

  /** Ends all followers, and returns the changes that were not sent. */
  close(): Unsent {
    const newest: WaitingChange[] = [];
    let each: WaitingChange[] | undefined;
    for (const { what, changes } of this.#followers.values()) {
      if (what !== "changes") continue;
      const unsent = changes.take(Infinity);
      if (changes instanceof EachChange) each ??= unsent;
      else newest.push(...unsent);
    }
    this.#followers.clear();
    clearTimeout(this.#retry);
    return { newest, each };
  }

  changed(id: string, change: Announced): void {
    if (!this.#parts.mayRead(id)) return;
    for (const follower of this.#followers.values()) {
      this.#add(follower, { id, ...change, isInitial: false });
    }
    this.#pump();
  }

  /** Passes an event to followers, or to one that begins with the start. */
  event({ what, event }: Occurrence, only?: number): void {
    const id = what === "scenes" ? event.sceneId : event.deviceId;
    if (!this.#parts.mayRead(id)) return;
    const device = this.#parts.find(id);
    const isMeant = (selector: DeviceSelector): boolean =>
      what === "scenes" || (device !== undefined && selects(selector, device));
    for (const [number, follower] of this.#followers) {
      if (follower.what !== what || !isMeant(follower.selector)) continue;
      if (only !== undefined && only !== number) continue;
      follower.events.push(event);
      if (follower.events.length > MOST_EVENTS) this.#dropEvent(follower.events);
      if (what !== "events") this.#parts.sent(id, event.cause);
    }
    this.#pump();
  }

  #add(follower: Follower, change: WaitingChange): void {
    const { device, old } = change;
    if (follower.what !== "devices" && follower.what !== "changes") return;
    const isMeant = [device, old].some((each) => each && this.#concerns(follower, each));
    if (isMeant && device !== old) follower.changes.add(change);
  }

  #concerns({ selector }: Follower, device: Device): boolean {
    return this.#parts.mayRead(device.id) && selects(selector, device);
  }

  #dropEvent(events: Occurrence["event"][]): void {
    events.shift();
    this.#droppedEvents++;
    if (!Number.isInteger(Math.log10(this.#droppedEvents))) return;
    const dropped = this.#droppedEvents;
    this.#parts.warn("dropped events of the home: the plugin reads them too slowly", { dropped });
  }

  #warnMerged(merged: number): void {
    if (!Number.isInteger(Math.log10(merged))) return;
    this.#parts.warn("merged changes of devices: the plugin reads them too slowly", { merged });
  }

  /** Starts sending, unless a batch is in flight. */
  #pump(): void {
    if (this.#isSending || this.#retry) return;
    this.#isSending = true;
    queueMicrotask(() => void this.#sendAll());
  }

  /** Never rejects. */
  async #sendAll(): Promise<void> {
    for (let next = this.#next(); next; next = this.#next()) {
      const [number, follower] = next;
      const taken = follower.changes.take(DEVICES_AT_ONCE);
      const events = follower.events.splice(0);
      const changes = taken.flatMap((change) => this.#toSend(change));
      if (changes.length === 0 && events.length === 0) continue;
      this.#followers.delete(number); // the next follower has its turn first
      this.#followers.set(number, follower);
      try {
        await this.#parts.send({ follower: number, changes, events });
      } catch {
        if (!this.#followers.has(number)) continue;
        follower.changes.putBack(taken);
        // The process is busy, or ends, which closes this feed.
        this.#retry = setTimeout(() => {
          this.#retry = undefined;
          this.#pump();
        }, RETRY_MS).unref();
        break;
      }
    }
    this.#isSending = false; // in the same turn as the last look for something to send
  }

  #next(): [number, Follower] | undefined {
    for (const [number, follower] of this.#followers) {
      if (follower.changes.size > 0 || follower.events.length > 0) return [number, follower];
    }
    return undefined;
  }

  #toSend({ id, device, old, cause, isInitial }: WaitingChange): SentChange[] {
    if (!device && !old) return [];
    if (!device) return [{ id, before: old as Device }];
    if (isInitial) return [{ id, device, isInitial }];
    const before = old && differences(old, device);
    if (before && Object.keys(before).length === 0) return [];
    this.#parts.sent(id, cause);
    return [{ id, device, ...(before && { before }), ...(cause && { cause }) }];
  }
}

/** The fields of `old` that are not the same in `device`. Unchanged fields are the same objects. */
function differences(old: Device, device: Device): Partial<Device> {
  const fields = Object.entries(old) as [keyof Device, never][];
  return Object.fromEntries(fields.filter(([name, value]) => device[name] !== value));
}
