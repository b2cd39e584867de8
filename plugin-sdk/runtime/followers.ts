import type { Log } from "../context.ts";
import type { Device } from "../device.ts";
import type {
  FollowRequest,
  HomeBatch,
  HomeOccurrences,
  SentChange,
  UnseenChange,
} from "../home-protocol.ts";
import type { DeviceChange, DeviceSelector, Stop } from "../home.ts";
import {
  EachChange,
  NewestChanges,
  type WaitingChange,
  type WaitingChanges,
} from "../waiting-changes.ts";
import type { HostLink } from "./host-link.ts";

const MOST_EVENTS = 1_000;
/** Unread changes that the next generation gets. */
const MOST_UNSEEN = 500;

/** One listener or iterator. What it has not read waits. */
interface Follower {
  receive(batch: HomeBatch): void;
  /** Ends it, and returns the changes that it has not read. */
  end(): readonly UnseenChange[];
}

interface FollowerDependencies {
  readonly host: HostLink;
  readonly log: Log;
  /** Runs a call of a listener, which the end of the generation waits for. */
  readonly accept: (work: () => Promise<void>) => Promise<void>;
}

/** The listeners and iterators of one generation. */
export class Followers {
  readonly #parts: FollowerDependencies;
  readonly #followers = new Map<number, Follower>();
  /** The number of the last follower in this process, whose numbers are never used again. */
  static #last = 0;
  #isStart = true;
  #hasEnded = false;

  constructor(parts: FollowerDependencies) {
    this.#parts = parts;
  }

  get isWaiting(): boolean {
    return this.#followers.size > 0;
  }

  /** From now on new followers begin with the next change. */
  started(): void {
    this.#isStart = false;
  }

  receive(batch: HomeBatch): void {
    this.#followers.get(batch.follower)?.receive(batch);
  }

  /** Ends all followers. The next generation gets the changes that they have not read. */
  end(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    const unseen = [...this.#followers.values()].flatMap((follower) => follower.end());
    if (this.#followers.size > 0) {
      this.#parts.host.notify("suspendHome", { unseen: unseen.slice(0, MOST_UNSEEN) });
    }
    this.#followers.clear();
  }

  async onChanges(
    { selector, each }: { readonly selector: DeviceSelector; readonly each: boolean },
    listener: (change: DeviceChange) => void | Promise<void>,
  ): Promise<Stop> {
    const changes = each ? new EachChange((count) => this.#warnMerged(count)) : new NewestChanges();
    const call = this.#serially(() => changes.take(1)[0], listener);
    return this.#open(
      { selector, what: "changes", ...(each && { each }) },
      {
        receive: (batch) => {
          addTo(changes, batch.changes);
          call();
        },
        end: () => unseenOf(changes.take(Infinity), each),
      },
    );
  }

  async onEvents<W extends keyof HomeOccurrences>(
    what: W,
    selector: DeviceSelector,
    listener: (event: HomeOccurrences[W]) => void | Promise<void>,
  ): Promise<Stop> {
    const events: HomeOccurrences[W][] = [];
    const call = this.#serially(() => events.shift(), listener);
    return this.#open(
      { selector, what },
      {
        receive: (batch) => {
          events.push(...((batch.events ?? []) as readonly HomeOccurrences[W][]));
          const surplus = events.length - MOST_EVENTS;
          if (surplus > 0) {
            events.splice(0, surplus);
            this.#parts.log.warn("dropped events of the home: a listener is too slow", { surplus });
          }
          call();
        },
        end: () => {
          events.length = 0;
          return [];
        },
      },
    );
  }

  iterate(selector: DeviceSelector): AsyncIterableIterator<DeviceChange> {
    const changes = new NewestChanges();
    let wake = (): void => undefined;
    let hasEnded = false;
    const end = (): readonly UnseenChange[] => {
      hasEnded = true;
      wake();
      return []; // the next generation begins with the whole list
    };
    const receive = (batch: HomeBatch): void => {
      addTo(changes, batch.changes);
      wake();
    };
    let opened: Promise<Stop> | undefined;
    const stop = async (): Promise<void> => {
      end();
      const close = await opened?.catch(() => undefined);
      close?.();
    };
    return {
      [Symbol.asyncIterator]() {
        return this;
      },
      next: async () => {
        if (hasEnded || this.#hasEnded) return { done: true, value: undefined };
        opened ??= this.#open({ selector, what: "devices" }, { receive, end });
        await opened;
        for (;;) {
          const [value] = hasEnded ? [] : changes.take(1);
          if (value) return { done: false, value };
          if (hasEnded) return { done: true, value: undefined };
          await new Promise<void>((resolve) => (wake = resolve));
        }
      },
      return: async () => {
        await stop();
        return { done: true, value: undefined };
      },
    };
  }

  async #open(
    request: Pick<FollowRequest, "selector" | "what" | "each">,
    follower: Follower,
  ): Promise<Stop> {
    const number = ++Followers.#last;
    this.#followers.set(number, follower); // the first batch may arrive before the answer
    const { host } = this.#parts;
    try {
      await host.call("followHome", { follower: number, ...request, isStart: this.#isStart });
    } catch (error) {
      this.#followers.delete(number);
      throw error;
    }
    return () => {
      if (!this.#followers.delete(number)) return;
      follower.end();
      host.notify("unfollowHome", { follower: number });
    };
  }

  #warnMerged(count: number): void {
    if (!Number.isInteger(Math.log10(count))) return;
    this.#parts.log.warn("merged changes of devices: a listener is too slow", { merged: count });
  }

  /** A function that passes all that waits to a listener, one after the other, unless that is going on. */
  #serially<T>(
    take: () => T | undefined,
    listener: (value: T) => void | Promise<void>,
  ): () => void {
    let isRunning = false;
    const passAll = async (): Promise<void> => {
      for (let next = take(); next !== undefined; next = take()) {
        try {
          await listener(next);
        } catch (error) {
          this.#parts.log.error("a listener of ctx.home failed", { error });
        }
      }
      isRunning = false; // in the same turn as the last look for something to pass
    };
    return () => {
      if (isRunning) return;
      isRunning = true;
      void this.#parts.accept(passAll);
    };
  }
}

function addTo(waiting: WaitingChanges, changes: readonly SentChange[] = []): void {
  for (const { id, device, before, cause, isInitial = false } of changes) {
    const old = before && ({ ...device, ...before } as Device);
    waiting.add({ id, device, old, cause, isInitial });
  }
}

/** Changes as the host passes them to the next generation. */
function unseenOf(changes: readonly WaitingChange[], each: boolean): UnseenChange[] {
  return changes.map(({ id, device, old, cause }) => ({
    id,
    ...(each && device && { device }),
    ...(old && { before: old }),
    ...(cause && { cause }),
  }));
}
