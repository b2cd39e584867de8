import type { Log } from "../context.ts";
import type { DeviceImage, SentFrame } from "../device-image.ts";
import { MantelError } from "../errors.ts";
import { toSentImage } from "../sent-image.ts";

/** A call without a picture is answered after this time, before its deadline. */
const LONGEST_WAIT_MS = 3_000;
/** The live picture of a device ends when nobody has asked for this long. */
const UNWATCHED_MS = 5_000;

type Follow = (nativeId: string, signal: AbortSignal) => AsyncIterable<DeviceImage>;

/** The live pictures of a plugin's devices, each followed while the host asks for it. */
export class LiveFrames {
  readonly #log: Log;
  readonly #byDevice = new Map<string, Followed>();
  #isClosed = false;

  constructor(log: Log) {
    this.#log = log;
  }

  /**
   * A picture newer than `after`; `null` if none comes for a while. Begins to follow the device if nobody has asked.
   * @throws MantelError as the plugin's `frames` does; `not_found` if it has ended or sends no usable picture
   */
  async next(
    nativeId: string,
    { after, follow }: { after: number; follow: Follow },
  ): Promise<SentFrame | null> {
    if (this.#isClosed) return null;
    const known = this.#byDevice.get(nativeId);
    const followed = known?.hasEnded === false ? known : new Followed();
    if (followed !== known) {
      this.#byDevice.set(nativeId, followed);
      void followed.run(follow, nativeId).then((error) => {
        if (this.#byDevice.get(nativeId) === followed) this.#byDevice.delete(nativeId);
        if (error !== undefined) this.#log.warn("a live picture ended", { nativeId, error });
      });
    }
    return followed.next(after);
  }

  /** Ends all of them, and answers the waiting calls with `null`. */
  close(): void {
    this.#isClosed = true;
    for (const followed of this.#byDevice.values()) followed.end();
  }
}

/** The live picture of one device. */
class Followed {
  readonly #ended = new AbortController();
  #latest: SentFrame | undefined;
  readonly #waiting = new Set<() => void>();
  #unwatched: NodeJS.Timeout | undefined;
  #failure: Error | undefined;
  #hasEnded = false;

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** Follows it to its end. Returns the error that ended it, if nobody was told. */
  async run(follow: Follow, nativeId: string): Promise<Error | undefined> {
    const { signal } = this.#ended;
    try {
      for await (const image of follow(nativeId, signal)) {
        if (signal.aborted) break;
        this.#put(toSentImage(image));
      }
      if (!signal.aborted) throw new MantelError("not_found", "the live picture has ended");
    } catch (error) {
      if (!signal.aborted)
        this.#failure = error instanceof Error ? error : new Error(String(error));
    }
    const isTold = this.#waiting.size > 0;
    clearTimeout(this.#unwatched);
    this.#hasEnded = true;
    this.#wake();
    return isTold ? undefined : this.#failure;
  }

  async next(after: number): Promise<SentFrame | null> {
    this.#watch();
    if (!this.#isNewer(after) && !this.#hasEnded) await this.#wait();
    this.#watch();
    if (this.#failure !== undefined) throw this.#failure;
    return this.#isNewer(after) && this.#latest ? this.#latest : null;
  }

  end(): void {
    clearTimeout(this.#unwatched);
    this.#ended.abort();
    this.#hasEnded = true;
    this.#wake();
  }

  #put(image: Omit<SentFrame, "number">): void {
    // The time of day, so that the pictures of the next process have higher numbers.
    const number = Math.max(Date.now(), (this.#latest?.number ?? 0) + 1);
    this.#latest = { ...image, number };
    this.#wake();
  }

  #isNewer(after: number): boolean {
    return (this.#latest?.number ?? 0) > after;
  }

  #wait(): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        clearTimeout(timer);
        this.#waiting.delete(wake);
        resolve();
      };
      const timer = setTimeout(wake, LONGEST_WAIT_MS);
      this.#waiting.add(wake);
    });
  }

  #wake(): void {
    for (const wake of this.#waiting) wake();
  }

  #watch(): void {
    clearTimeout(this.#unwatched);
    if (this.#hasEnded) return;
    this.#unwatched = setTimeout(() => this.end(), UNWATCHED_MS).unref();
  }
}
