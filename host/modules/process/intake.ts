import type { Readable } from "node:stream";
import { LineCutter, type Line } from "@mantel/plugin-sdk/lines";

/** After this much work at one stream the rest of the host has its turn. */
const TURN_MS = 2;
const WAIT_MS = 20;
/** A second's worth of this many seconds may come at once. */
const BURST_SECONDS = 4;
/** A stream that is held back for this long, and brings more at once, is a flood. */
const FLOOD_MS = 500;

/** What a stream may bring. */
export interface Bounds {
  /** Bytes of one line. */
  readonly longest: number;
  readonly linesPerSecond: number;
  readonly bytesPerSecond: number;
}

export interface IntakeOwner {
  readonly onLine: (line: Line) => void;
  /** The stream has brought too much for half a second; `since` is when it began (monotonic). */
  readonly onFlood?: (since: number) => void;
}

/**
 * Reads the lines of a stream no faster than its bounds, in short turns; what is not read waits in the
 * process that writes it.
 */
export class Intake {
  readonly #stream: Readable;
  readonly #bounds: Bounds;
  readonly #owner: IntakeOwner;
  readonly #cutter: LineCutter;
  readonly #ready: Generator<Line>[] = [];
  #lines: number;
  #bytes: number;
  #filledAt = performance.now();
  #heldSince: number | undefined;
  #isResting = false;
  #isFree = false;

  constructor(stream: Readable, bounds: Bounds, owner: IntakeOwner) {
    this.#stream = stream;
    this.#bounds = bounds;
    this.#owner = owner;
    this.#cutter = new LineCutter(bounds.longest);
    this.#lines = bounds.linesPerSecond * BURST_SECONDS;
    this.#bytes = bounds.bytesPerSecond * BURST_SECONDS;
    stream.on("error", () => undefined); // its end is the end of the process, which is heard
    stream.on("data", (chunk: Buffer) => {
      this.#bytes -= chunk.length;
      this.#ready.push(this.#cutter.cut(chunk));
      this.#work();
    });
    stream.once("end", () => {
      this.#ready.push(this.#cutter.rest());
      this.finish();
    });
  }

  /** One line more may come, of up to `bytes`: it was asked for. */
  expectLine(bytes: number): void {
    this.#lines++;
    this.#bytes += bytes;
  }

  /** True while the stream brings more than it may. */
  get isHeldBack(): boolean {
    return this.#heldSince !== undefined;
  }

  /** Reads what is left at once: whoever wrote it has ended, and it is not much. */
  finish(): void {
    this.#isFree = true;
    this.#isResting = false;
    this.#work();
  }

  #work(): void {
    if (this.#isResting) return;
    this.#fill();
    const turnEndsAt = performance.now() + TURN_MS;
    for (;;) {
      if (this.#mustWait()) return this.#rest(WAIT_MS);
      const line = this.#next();
      if (!line) break;
      this.#lines--;
      this.#owner.onLine(line);
      if (!this.#isFree && performance.now() > turnEndsAt) return this.#rest(0);
    }
    this.#stream.resume();
  }

  #next(): Line | undefined {
    for (;;) {
      const chunk = this.#ready[0];
      const next = chunk?.next();
      if (!next?.done) return next?.value;
      this.#ready.shift();
    }
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

  /** A stream that has recovered a second's worth is no flood. */
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

/** A budget after so many seconds. What was asked for besides may be above the usual most. */
function filled(budget: number, perSecond: number, seconds: number): number {
  return Math.max(budget, Math.min(budget + perSecond * seconds, perSecond * BURST_SECONDS));
}
