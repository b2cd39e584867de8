import type { Device } from "@mantel/plugin-sdk/device";
import type { FollowRequest, UnseenChange } from "@mantel/plugin-sdk/home-protocol";
import type { Bus } from "../events/bus.ts";
import {
  type Announced,
  type FeedDependencies,
  HomeFeed,
  type Occurrence,
  type UnsentChange,
} from "./feed.ts";
import { SentCauses } from "./sent-causes.ts";

/** The longest time between two generations whose changes are kept. */
const LONGEST_GAP_MS = 120_000;
/** The time after the first follower of the next generation in which it may still start. */
const START_MS = 10_000;
/** Older events, such as button presses, are not passed to the next generation. */
const EVENT_AGE_MS = 10_000;
const MOST_EVENTS = 100;

/** The changes between two generations of a module. */
interface Gap {
  readonly changes: Map<string, UnsentChange>;
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
        const gap = request.isStart ? this.#gapOf(module) : undefined;
        feed.follow(request, this.#devices.values(), gap?.changes ?? new Map());
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

  close(): void {
    this.#stopListening();
    for (const feed of this.#feeds) feed.close();
    this.#feeds.clear();
    this.#gaps.clear();
  }

  #openGap(
    module: string,
    unsent: ReadonlyMap<string, UnsentChange>,
    unseen: readonly UnseenChange[],
  ): void {
    const gap = this.#gaps.get(module) ?? { changes: new Map(), events: [], endsAt: 0 };
    gap.endsAt = performance.now() + LONGEST_GAP_MS;
    for (const { id, before, cause } of unseen) {
      const device = this.#devices.get(id);
      const old = before && ({ ...device, ...before } as Device);
      if (!gap.changes.has(id)) gap.changes.set(id, { old, cause });
    }
    for (const [id, change] of unsent) if (!gap.changes.has(id)) gap.changes.set(id, change);
    this.#gaps.set(module, gap);
  }

  /** The changes since the previous generation, for a generation that starts. */
  #gapOf(module: string): Gap | undefined {
    const gap = this.#gaps.get(module);
    if (gap) gap.endsAt = Math.min(gap.endsAt, performance.now() + START_MS);
    return gap;
  }

  #changed(id: string, change: Announced): void {
    this.#endGaps();
    for (const { changes } of this.#gaps.values()) {
      const earlier = changes.get(id);
      changes.set(id, { old: earlier ? earlier.old : change.old, cause: change.cause });
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

function passEvents({ events }: Gap, feed: HomeFeed, { follower, what }: FollowRequest): void {
  const oldest = Date.now() - EVENT_AGE_MS;
  for (const each of events) {
    if (each.what === what && Date.parse(each.event.at) >= oldest) feed.event(each, follower);
  }
}
