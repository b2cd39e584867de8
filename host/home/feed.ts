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

/** Devices in one message; the process parses them in about a millisecond. */
const DEVICES_AT_ONCE = 100;
const MOST_FOLLOWERS = 200;
const MOST_EVENTS = 1_000;
const RETRY_MS = 1_000;

/** A change that was not sent yet: the device as the process knows it, and the newest cause. */
export interface UnsentChange {
  readonly old: Device | undefined;
  readonly cause: Cause | undefined;
}

/** A changed device as the home announces it. */
export interface Announced extends UnsentChange {
  readonly device: Device | undefined;
}

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

interface Unsent extends UnsentChange {
  readonly isInitial: boolean;
}

interface Follower {
  readonly selector: DeviceSelector;
  readonly what: FollowRequest["what"];
  readonly changes: Map<string, Unsent>;
  events: Occurrence["event"][];
}

/**
 * Sends changed devices to one process, within what its manifest permits. One batch is in flight at a time; meanwhile
 * of each device only the newest state waits, so that a slow process costs at most an entry per device.
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
    { follower, selector, what }: FollowRequest,
    devices: Iterable<Device>,
    missed: ReadonlyMap<string, UnsentChange>,
  ): void {
    if (this.#followers.size >= MOST_FOLLOWERS) {
      const sentence = `a plugin has at most ${MOST_FOLLOWERS} listeners of the home; stop some, or follow "*" once`;
      throw new MantelError("rate_limited", sentence);
    }
    const changes = new Map<string, Unsent>();
    const added: Follower = { selector, what, changes, events: [] };
    this.#followers.set(follower, added);
    if (what === "devices") {
      for (const device of devices) {
        if (!this.#concerns(added, device)) continue;
        changes.set(device.id, { old: undefined, cause: undefined, isInitial: true });
      }
    }
    if (what === "changes") {
      for (const [id, { old, cause }] of missed) {
        const device = this.#parts.find(id);
        if (device !== old) this.#add(added, id, { device, old, cause });
      }
    }
    this.#pump();
  }

  unfollow(follower: number): void {
    this.#followers.delete(follower);
  }

  /** Ends all followers, and returns the changes that were not sent. */
  close(): Map<string, UnsentChange> {
    const unsent = new Map<string, UnsentChange>();
    for (const { what, changes } of this.#followers.values()) {
      if (what === "changes")
        for (const [id, { old, cause }] of changes) unsent.set(id, { old, cause });
    }
    this.#followers.clear();
    clearTimeout(this.#retry);
    return unsent;
  }

  changed(id: string, change: Announced): void {
    if (!this.#parts.mayRead(id)) return;
    for (const follower of this.#followers.values()) this.#add(follower, id, change);
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

  #add(follower: Follower, id: string, { device, old, cause }: Announced): void {
    if (follower.what !== "devices" && follower.what !== "changes") return;
    const isMeant = [device, old].some((each) => each && this.#concerns(follower, each));
    if (!isMeant) return;
    const earlier = follower.changes.get(id);
    const isInitial = earlier?.isInitial === true;
    follower.changes.set(id, { old: earlier ? earlier.old : old, cause, isInitial });
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
      const taken = takeFirst(follower.changes);
      const events = follower.events.splice(0);
      const changes = taken.flatMap(([id, unsent]) => this.#toSend(id, unsent));
      if (changes.length === 0 && events.length === 0) continue;
      this.#followers.delete(number); // the next follower has its turn first
      this.#followers.set(number, follower);
      try {
        await this.#parts.send({ follower: number, changes, events });
      } catch {
        if (!this.#followers.has(number)) continue;
        for (const [id, unsent] of taken) {
          const later = follower.changes.get(id);
          follower.changes.set(id, later ? { ...later, old: unsent.old } : unsent);
        }
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

  #toSend(id: string, { old, cause, isInitial }: Unsent): SentChange[] {
    const device = this.#parts.find(id);
    if (!device && !old) return [];
    if (!device) return [{ id, before: old as Device }];
    if (isInitial) return [{ id, device, isInitial }];
    const before = old && differences(old, device);
    if (before && Object.keys(before).length === 0) return [];
    this.#parts.sent(id, cause);
    return [{ id, device, ...(before && { before }), ...(cause && { cause }) }];
  }
}

function takeFirst(changes: Map<string, Unsent>): [string, Unsent][] {
  const taken: [string, Unsent][] = [];
  for (const entry of changes) {
    taken.push(entry);
    changes.delete(entry[0]);
    if (taken.length >= DEVICES_AT_ONCE) break;
  }
  return taken;
}

/** The fields of `old` that are not the same in `device`. Unchanged fields are the same objects. */
function differences(old: Device, device: Device): Partial<Device> {
  const fields = Object.entries(old) as [keyof Device, never][];
  return Object.fromEntries(fields.filter(([name, value]) => device[name] !== value));
}
