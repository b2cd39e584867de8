import type { Device } from "@mantel/plugin-sdk/device";
import type { FollowRequest, UnseenChange } from "@mantel/plugin-sdk/home-protocol";
import {
  EachChange,
  NewestChanges,
  type WaitingChange,
  type WaitingChanges,
} from "@mantel/plugin-sdk/waiting-changes";
import type { Bus } from "../events/bus.ts";
import {
  type Announced,
  type FeedDependencies,
  HomeFeed,
  type Occurrence,
  type Unsent,
} from "./feed.ts";
import { SentCauses } from "./sent-causes.ts";

/** The longest time between two generations whose changes are kept. */
const LONGEST_GAP_MS = 120_000;
/** Older events, such as button presses, are not passed to the next generation. */
const EVENT_AGE_MS = 10_000;
const MOST_EVENTS = 100;

/** The changes between two generations of a module. */
interface Gap {
  readonly newest: WaitingChanges;
  /** For a listener that gets each change; `undefined` if the previous generation had none. */
  each?: EachChange;
  readonly events: Occurrence[];
  /** Monotonic. */
  endsAt: number;
}

/** A process that follows the home. */
export interface FeedHandle {
  /** @throws MantelError as `HomeFeed.follow` */
  follow(request: FollowRequest): void;
  unfollow(follower: number): void;
  /** Ends all followers of the process. The next generation gets the changes from then on, and those unseen. */
  suspend(unseen?: readonly UnseenChange[]): void;
}

/** All devices as they were announced, and the processes that follow them. */
export class HomeFeeds {
  readonly #devices = new Map<string, Device>();
  readonly #feeds = new Set<HomeFeed>();
  /** By module id. */
  readonly #gaps = new Map<string, Gap>();
  readonly #stopListening: () => void;
  /** The causes that modules know. */
  readonly causes = new SentCauses();

  constructor(bus: Bus) {
    this.#stopListening = bus.on(({ topic, data }) => {
      if (topic === "device.state" || topic === "device.added") {
        const old = this.#devices.get(data.device.id);
        this.#devices.set(data.device.id, data.device);
        const cause = "cause" in data ? data.cause : undefined;
        this.#changed(data.device.id, { device: data.device, old, cause });
      } else if (topic === "device.removed") {
        const old = this.#devices.get(data.id);
        this.#devices.delete(data.id);
        if (old) this.#changed(data.id, { device: undefined, old, cause: undefined });
      } else if (topic === "device.event") this.#event({ what: "events", event: data });
      else if (topic === "command.failed") this.#event({ what: "failures", event: data });
      else if (topic === "scene.activated") this.#event({ what: "scenes", event: data });
      else if (topic === "scene.failed") {
        this.#event({ what: "scenes", event: { ...data, status: "failed" } });
      }
    });
  }

  /** A feed for one process of a module. */
  open(module: string, parts: Omit<FeedDependencies, "find">): FeedHandle {
    const feed = new HomeFeed({ ...parts, find: (id) => this.#devices.get(id) });
    return {
      follow: (request) => {
        const gap = request.isStart ? this.#gaps.get(module) : undefined;
        const waiting = request.each ? (gap?.each ?? gap?.newest) : gap?.newest;
        feed.follow(request, this.#devices.values(), waiting ? peek(waiting) : []);
        this.#feeds.add(feed);
        if (gap) passEvents(gap, feed, request);
      },
      unfollow: (follower) => {
        feed.unfollow(follower);
        if (!feed.isUsed) this.#feeds.delete(feed);
      },
      suspend: (unseen = []) => {
        if (!this.#feeds.delete(feed)) return;
        this.#openGap(module, feed.close(), unseen);
      },
    };
  }

  /** The next generation of a module has started, with the changes since the previous one. */
  settle(module: string): void {
    this.#gaps.delete(module);
  }

  close(): void {
    this.#stopListening();
    for (const feed of this.#feeds) feed.close();
    this.#feeds.clear();
    this.#gaps.clear();
  }

  /** Begins a gap. One that a failed start leaves open has all changes since the previous generation already. */
  #openGap(module: string, unsent: Unsent, unseen: readonly UnseenChange[]): void {
    const endsAt = performance.now() + LONGEST_GAP_MS;
    const known = this.#gaps.get(module);
    if (known) return void (known.endsAt = endsAt);
    const gap: Gap = { newest: new NewestChanges(), events: [], endsAt };
    if (unsent.each || unseen.some(({ device }) => device)) gap.each = newQueue();
    for (const change of unseen) {
      const waiting = change.device ? gap.each : gap.newest;
      waiting?.add(this.#whole(change));
    }
    for (const change of unsent.newest) gap.newest.add(change);
    for (const change of unsent.each ?? []) gap.each?.add(change);
    this.#gaps.set(module, gap);
  }

  #whole({ id, device = this.#devices.get(id), before, cause }: UnseenChange): WaitingChange {
    const old = before && ({ ...device, ...before } as Device);
    return { id, device, old, cause, isInitial: false };
  }

  #changed(id: string, change: Announced): void {
    this.#endGaps();
    for (const { newest, each } of this.#gaps.values()) {
      newest.add({ id, ...change, isInitial: false });
      each?.add({ id, ...change, isInitial: false });
    }
    for (const feed of this.#feeds) feed.changed(id, change);
  }

  #event(event: Occurrence): void {
    this.#endGaps();
    for (const { events } of this.#gaps.values()) {
      events.push(event);
      if (events.length > MOST_EVENTS) events.shift();
    }
    for (const feed of this.#feeds) feed.event(event);
  }

  #endGaps(): void {
    if (this.#gaps.size === 0) return;
    const now = performance.now();
    for (const [module, { endsAt }] of this.#gaps) if (endsAt <= now) this.#gaps.delete(module);
  }
}

/** The log of a module tells when its own queue merges changes. */
const newQueue = (): EachChange => new EachChange(() => undefined);

/** The changes of a gap stay in it for the other followers of the generation, and for one that follows a failed start. */
function peek(waiting: WaitingChanges): WaitingChange[] {
  const changes = waiting.take(Infinity);
  waiting.putBack(changes);
  return changes;
}

function passEvents({ events }: Gap, feed: HomeFeed, { follower, what }: FollowRequest): void {
  const oldest = Date.now() - EVENT_AGE_MS;
  for (const each of events) {
    if (each.what === what && Date.parse(each.event.at) >= oldest) feed.event(each, follower);
  }
}
