import type { Readable } from "node:stream";
import { LineCutter, type Line } from "@mantel/plugin-sdk/lines";

/** After this much work for one stream the rest of the host gets its turn. */
const TURN_MS = 2;
const WAIT_MS = 20;
/** Bursts may use the limit of this many seconds at once. */
const BURST_SECONDS = 4;
/** A stream that is held back for this long, and has more to read, is a flood. */
const FLOOD_MS = 500;

/** The limits of a stream. */
export interface Bounds {
  /** The most bytes of one line. */
  readonly longest: number;
  readonly linesPerSecond: number;
  readonly bytesPerSecond: number;
}

/** Work for a line in steps, so that the rest of the host can run in between. */
export type LineWork = Iterator<undefined, void>;

export interface ReaderOwner {
  /** Called for each line; the next line follows after all steps of the returned work. */
  readonly onLine: (line: Line) => LineWork | void;
  /** True while lines that were read are still worked on, and no further one is to be read. */
  readonly isBusy?: () => boolean;
  /**
   * Called when the stream has exceeded its limits for half a second; `since` is when that began (monotonic, in
   * ms).
   */
  readonly onFlood?: (since: number) => void;
}

/**
 * Reads the lines of a stream within its limits, in short turns; unread data waits in the
 * process that writes it.
 */
export class ThrottledReader {
  readonly #stream: Readable;
  readonly #bounds: Bounds;
  readonly #owner: ReaderOwner;
  readonly #cutter: LineCutter;
  readonly #ready: Generator<Line>[] = [];
  #underWay: LineWork | undefined;
  #whenDone: (() => void)[] = [];
  #lines: number;
  #bytes: number;
  #filledAt = performance.now();
  #heldSince: number | undefined;
  #isResting = false;
  #isFree = false;

  constructor(stream: Readable, bounds: Bounds, owner: ReaderOwner) {
    this.#stream = stream;
    this.#bounds = bounds;
    this.#owner = owner;
    this.#cutter = new LineCutter(bounds.longest);
    this.#lines = bounds.linesPerSecond * BURST_SECONDS;
    this.#bytes = bounds.bytesPerSecond * BURST_SECONDS;
    stream.on("error", () => undefined); // the process's exit is reported separately
    stream.on("data", (chunk: Buffer) => {
      this.#bytes -= chunk.length;
      this.#ready.push(this.#cutter.cut(chunk));
      this.#work();
    });
    stream.once("end", () => {
      this.#ready.push(this.#cutter.rest());
      void this.finish();
    });
  }

  /** Allows one more line of up to `bytes`, because it was requested. */
  expectLine(bytes: number): void {
    this.#lines++;
    this.#bytes += bytes;
  }

  /** True while the stream exceeds its limits. */
  get isHeldBack(): boolean {
    return this.#heldSince !== undefined;
  }

  /** True while lines wait for the host to read them. */
  get hasUnread(): boolean {
    return this.#isResting || this.#ready.length > 0;
  }

  /**
   * Reads the remaining data at once: the process that wrote it has ended, and it is not much. Resolves when the
   * work for it is done, which is later if a line has several steps.
   */
  finish(): Promise<void> {
    this.#isFree = true;
    this.#isResting = false;
    return new Promise((resolve) => {
      this.#whenDone.push(resolve);
      this.#work();
    });
  }

  #work(): void {
    if (this.#isResting) return;
    this.#fill();
    const turnEndsAt = performance.now() + TURN_MS;
    for (;;) {
      const hasSteps = this.#underWay !== undefined;
      if (!hasSteps && (this.#isBusy() || this.#mustWait())) return this.#rest(WAIT_MS);
      if (!this.#step()) break;
      const mayStay = this.#isFree && !hasSteps;
      if (!mayStay && performance.now() > turnEndsAt) return this.#rest(0);
    }
    for (const done of this.#whenDone.splice(0)) done();
    this.#stream.resume();
  }

  /** False if nothing is left. */
  #step(): boolean {
    if (this.#underWay) {
      if (this.#underWay.next().done) this.#underWay = undefined;
      return true;
    }
    const line = this.#next();
    if (!line) return false;
    this.#lines--;
    this.#underWay = this.#owner.onLine(line) ?? undefined;
    return true;
  }

  #next(): Line | undefined {
    for (;;) {
      const chunk = this.#ready[0];
      const next = chunk?.next();
      if (!next?.done) return next?.value;
      this.#ready.shift();
    }
  }

  #isBusy(): boolean {
    return !this.#isFree && this.#owner.isBusy?.() === true;
  }

  #mustWait(): boolean {
    if (this.#isFree || (this.#lines > 0 && this.#bytes > 0)) return false;
    const now = performance.now();
    this.#heldSince ??= now;
    if (now - this.#heldSince > FLOOD_MS) this.#owner.onFlood?.(this.#heldSince);
    return true;
  }

  #rest(ms: number): void {
    this.#isResting = true;
    this.#stream.pause();
    const goOn = (): void => {
      this.#isResting = false;
      this.#work();
    };
    if (ms === 0) setImmediate(goOn);
    else setTimeout(goOn, ms);
  }

  /** Refills the budget. A stream that has recovered a second's worth does not count as a flood. */
  #fill(): void {
    const { linesPerSecond, bytesPerSecond } = this.#bounds;
    const now = performance.now();
    const seconds = (now - this.#filledAt) / 1_000;
    this.#filledAt = now;
    this.#lines = filled(this.#lines, linesPerSecond, seconds);
    this.#bytes = filled(this.#bytes, bytesPerSecond, seconds);
    if (this.#lines >= linesPerSecond && this.#bytes >= bytesPerSecond) this.#heldSince = undefined;
  }
}

/** A budget after this many seconds. Requested lines may raise it above the usual limit. */
function filled(budget: number, perSecond: number, seconds: number): number {
  return Math.max(budget, Math.min(budget + perSecond * seconds, perSecond * BURST_SECONDS));
}
