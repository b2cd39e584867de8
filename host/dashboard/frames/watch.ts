import { words } from "./words.ts";

/** A watched frame. */
interface Watched {
  /** The id of its tile, which outlives the frame. */
  readonly instance: string;
  readonly isReady: boolean;
  /** Ticks since the last message. */
  silentTicks: number;
  /** Time of the last touch, as `performance.now`. */
  readonly touchedAt: number;
  readonly heardAt: number;
  send(message: { readonly kind: "ping" }): void;
  isSourceOf(event: MessageEvent): boolean;
  /** Ends the frame and returns its owner. */
  end(): { failed(error: Error): void; lost(): void } | undefined;
}

const TICK_MS = 250;
/** Two seconds without an answer. A loop in a widget's own code stops itself after one second. */
const SILENT_TICKS = 8;
/** A tick that is later than this means that this page itself was blocked; it does not count. */
const LATE_MS = 200;
/** A touch within this time before the silence is its likely cause. */
const TOUCH_MS = 2_000;
/** A frame that falls silent twice within this time is at fault. */
const AGAIN_MS = 60_000;

/** Frames that ended because of another frame in their process, by tile id. */
const endedAt = new Map<string, number>();

/**
 * Health check of all frames. Browsers put all frames in one separate process, so an infinite loop
 * in one of them silences all, and a new process starts only after all frames are removed. A frame
 * is at fault if it was mounting, was just touched, is the only silent one or is silent again. The
 * other frames are restarted.
 */
class FrameWatch {
  readonly #frames = new Set<Watched>();
  #timer: ReturnType<typeof setInterval> | undefined;
  #tickedAt = 0;
  /** The frame whose widget is mounting; only one mounts at a time. */
  mounting: Watched | undefined;

  add(frame: Watched): void {
    this.#frames.add(frame);
    if (this.#timer !== undefined) return;
    this.#tickedAt = performance.now();
    this.#timer = setInterval(() => this.#tick(), TICK_MS);
    addEventListener("message", this.#onMessage);
  }

  delete(frame: Watched): void {
    this.#frames.delete(frame);
    if (this.#frames.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
    removeEventListener("message", this.#onMessage);
  }

  /** A frame uses the port. Messages to this window would bypass the limits of the port. */
  readonly #onMessage = (event: MessageEvent): void => {
    for (const frame of this.#frames) {
      if (!frame.isSourceOf(event)) continue;
      frame.end()?.failed(new Error(words.peek().frameMessagesWindow));
    }
  };

  #tick(): void {
    const now = performance.now();
    const isLate = now - this.#tickedAt > TICK_MS + LATE_MS;
    this.#tickedAt = now;
    const ready = [...this.#frames].filter(({ isReady }) => isReady);
    for (const frame of ready) {
      if (document.hidden) frame.silentTicks = 0;
      if (frame.silentTicks === 0) frame.send({ kind: "ping" });
      if (frame.silentTicks === 0 || !isLate) frame.silentTicks++;
    }
    const silent = ready.filter(({ silentTicks }) => silentTicks > SILENT_TICKS);
    if (silent.length > 0) this.#end(silent, now);
  }

  #end(silent: readonly Watched[], now: number): void {
    const { mounting } = this;
    const others = [...this.#frames].filter(({ isReady }) => !isReady); // loading in that process
    const touched = silent.filter(({ touchedAt, heardAt }) => heardAt - touchedAt < TOUCH_MS);
    const [lastTouched] = touched.toSorted((one, other) => other.touchedAt - one.touchedAt);
    const suspect = mounting && silent.includes(mounting) ? mounting : lastTouched;
    const isAtFault = (frame: Watched): boolean => {
      if (suspect) return frame === suspect;
      const before = endedAt.get(frame.instance) ?? -Infinity;
      return silent.length === 1 || now - before < AGAIN_MS;
    };
    const fault = new Error(words.peek().frameSilent);
    const failed = silent.filter(isAtFault);
    const lost = [...silent.filter((each) => !failed.includes(each)), ...others];
    const names = (frames: readonly Watched[]) => frames.map(({ instance }) => instance).join();
    console.warn(`frames did not answer: ${names(failed)} at fault; restarting ${names(lost)}`);
    for (const { instance } of lost) endedAt.set(instance, now);
    const failedUsers = failed.map((frame) => frame.end());
    const lostUsers = lost.map((frame) => frame.end());
    // All frames are removed by now, so the next frame gets a new process.
    for (const user of failedUsers) user?.failed(fault);
    for (const user of lostUsers) user?.lost();
  }
}

export const watchFrames = new FrameWatch();
