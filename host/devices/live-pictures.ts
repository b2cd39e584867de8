import { setTimeout as delay } from "node:timers/promises";
import type { LiveForm } from "@mantel/plugin-sdk/device";
import { MantelError } from "@mantel/plugin-sdk/errors";
import { FairShare } from "@mantel/plugin-sdk/fair-share";
import { type CheckedImage, parseImage } from "@mantel/plugin-sdk/sent-image";
import { type BridgeDirectory, upBridge } from "./bridge.ts";
import type { DeviceRegistry } from "./registry.ts";

/** The most viewers at once, and of one token. A browser opens six connections at most. */
const VIEWERS = { most: 64, mostOfOne: 12 };
/** At most 15 pictures a second are read from one device. */
const LEAST_INTERVAL_MS = 66;
/** A live picture ends if no picture comes for this time. */
const SILENT_MS = 15_000;
const RETRY_MS = 5_000;

/** A live picture; numbers grow. */
interface Frame extends CheckedImage {
  readonly number: number;
}

interface Dependencies {
  readonly devices: Pick<DeviceRegistry, "get" | "nativeOf">;
  readonly bridges: BridgeDirectory;
  /** The monotonic time in milliseconds. */
  readonly now?: () => number;
}

interface Viewing {
  /** The name of the viewer's token. */
  readonly owner: string;
  /** Aborted when the viewer has gone. */
  readonly gone: AbortSignal;
  readonly permitted: () => boolean;
}

/** The live pictures of devices. Each is read from its bridge while somebody watches, once for all viewers. */
export class LivePictures {
  readonly #parts: Dependencies;
  readonly #feeds = new Map<string, Feed>();
  readonly #places = new FairShare<AbortController>(VIEWERS);
  readonly #closed = new AbortController();

  constructor(parts: Dependencies) {
    this.#parts = parts;
  }

  /**
   * The pictures of a device as they come, for one viewer: the newest each time, so that a slow one skips some. The
   * first has come when this resolves. They end when the viewer has gone, with the device's live picture, when
   * `permitted` returns false, and when the host stops.
   *
   * @throws MantelError `device_unknown`; `not_found` without live pictures; `rate_limited` for too many viewers; those
   * of a command
   */
  async watch(
    id: string,
    { owner, gone, permitted }: Viewing,
  ): Promise<AsyncGenerator<CheckedImage>> {
    this.#require(id, "frames");
    gone.throwIfAborted();
    const place = new AbortController();
    const { isGiven, replaced } = this.#places.take(owner, place);
    if (!isGiven) throw crowded(owner);
    replaced?.abort();
    const feed = this.#feedOf(id);
    feed.viewers++;
    gone.addEventListener("abort", () => {
      this.#places.release(owner, place);
      feed.viewers--;
      if (feed.viewers === 0) this.#drop(id, feed);
    });
    const signal = AbortSignal.any([gone, place.signal, this.#closed.signal]);
    const next = (after: number): Promise<Frame> => beforeAbort(feed.next(after), signal);
    return follow(await next(0), { next, permitted });
  }

  /**
   * The answer to a viewer's offer of a WebRTC connection.
   * @throws MantelError `device_unknown`; `not_found` without a video; those of a command
   */
  async answer(id: string, offer: string): Promise<string> {
    this.#require(id, "video");
    const { bridgeId, nativeId } = this.#parts.devices.nativeOf(id);
    const bridge = upBridge(this.#parts.bridges, bridgeId);
    await bridge.ready();
    return bridge.video(nativeId, offer);
  }

  /** Ends all of them. */
  close(): void {
    this.#closed.abort();
  }

  #require(id: string, form: LiveForm): void {
    const { live = [] } = this.#parts.devices.get(id);
    if (!live.includes(form)) throw new MantelError("not_found", `${id} has no live ${form}`);
  }

  #feedOf(id: string): Feed {
    const known = this.#feeds.get(id);
    if (known) return known;
    const feed = new Feed(() => this.#read(id, feed), this.#parts.now);
    this.#feeds.set(id, feed);
    void feed.ended.then(() => this.#drop(id, feed));
    return feed;
  }

  /** The next viewer gets a new feed, and so no old picture. */
  #drop(id: string, feed: Feed): void {
    if (this.#feeds.get(id) === feed) this.#feeds.delete(id);
  }

  /** The next frame of a device; `undefined` if none has come for a while. */
  async #read(id: string, { number }: Feed): Promise<Frame | undefined> {
    const { bridgeId, nativeId } = this.#parts.devices.nativeOf(id);
    const bridge = upBridge(this.#parts.bridges, bridgeId);
    await bridge.ready();
    const sent = await bridge.nextFrame(nativeId, number);
    if (sent === null) return undefined;
    if (!(sent.number > number)) throw new MantelError("not_found", `${id} sent an old picture`);
    return { ...parseImage(sent), number: sent.number };
  }
}

async function* follow(
  first: Frame,
  { next, permitted }: Pick<Viewing, "permitted"> & { next: (after: number) => Promise<Frame> },
): AsyncGenerator<CheckedImage> {
  try {
    for (let frame = first; permitted(); frame = await next(frame.number)) yield frame;
  } catch {
    // The viewer sees the end of the answer, and the next request is told the reason.
  }
}

function crowded(owner: string): MantelError {
  const sentence = `${owner} already watches ${VIEWERS.mostOfOne} live pictures, which is the limit; close one`;
  return new MantelError("rate_limited", sentence, { retryAfterMs: RETRY_MS });
}

/** The result of a promise, or the reason of an abort before that. Leaves nothing behind at the signal, which lasts longer. */
function beforeAbort<T>(result: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(signal.reason as Error);
    const settled = (): void => signal.removeEventListener("abort", stop);
    signal.addEventListener("abort", stop);
    if (signal.aborted) stop();
    void result.then(resolve, reject).finally(settled);
  });
}

/** The live picture of one device, read while somebody waits for the next one. */
class Feed {
  readonly ended: Promise<void>;
  viewers = 0;
  readonly #read: () => Promise<Frame | undefined>;
  readonly #now: () => number;
  #latest: Frame | undefined;
  #reading: Promise<void> | undefined;
  #readAt = -Infinity;
  /** The time for which reading has brought no picture. */
  #silentMs = 0;
  #end: () => void = () => undefined;

  constructor(read: () => Promise<Frame | undefined>, now: () => number = () => performance.now()) {
    this.#read = read;
    this.#now = now;
    this.ended = new Promise((resolve) => (this.#end = resolve));
  }

  /** The number of the latest frame. */
  get number(): number {
    return this.#latest?.number ?? 0;
  }

  /** Waits for a frame newer than `after`. @throws MantelError */
  async next(after: number): Promise<Frame> {
    for (;;) {
      if (this.#latest && this.#latest.number > after) return this.#latest;
      this.#reading ??= this.#readOnce().finally(() => (this.#reading = undefined));
      await this.#reading;
    }
  }

  async #readOnce(): Promise<void> {
    try {
      await delay(Math.max(0, this.#readAt + LEAST_INTERVAL_MS - this.#now()));
      this.#readAt = this.#now();
      const frame = await this.#read();
      this.#silentMs = frame ? 0 : this.#silentMs + this.#now() - this.#readAt;
      if (frame) this.#latest = frame;
      if (this.#silentMs >= SILENT_MS) {
        throw new MantelError("deadline_passed", "no live picture has come for a while");
      }
    } catch (error) {
      this.#end();
      throw error;
    }
  }
}
