import { MantelError, sentence } from "@mantel/plugin-sdk";

/** Maximum time without yielding to the event loop; the host expects a heartbeat every second. */
const SLICE_MS = 20;
/** Maximum processor time of this thread for one calendar. */
const MAX_WORK_MS = 1_500;

const TOO_LONG = sentence("too_long_to_work_out", "the calendar takes too long to work out");

const waiting: (() => void)[] = [];
let sliceEnd = 0;

/**
 * Makes long work yield to the event loop. All tasks share one time slice and continue one per turn
 * of the loop, so a hundred of them block it no longer than one does.
 */
export class TimeSlice {
  #usedMs = 0;
  #work = new Stopwatch();

  constructor() {
    if (waiting.length === 0 && this.isOver) sliceEnd = performance.now() + SLICE_MS;
  }

  get isOver(): boolean {
    return performance.now() > sliceEnd;
  }

  /**
   * @throws MantelError `invalid` if the work has used too much processor time, independent of
   * other load
   */
  async yield(): Promise<void> {
    this.#usedMs += this.#work.usedMs;
    if (this.#usedMs > MAX_WORK_MS) {
      throw new MantelError("invalid", TOO_LONG);
    }
    await new Promise<void>((resolve) => {
      waiting.push(resolve);
      if (waiting.length === 1) setImmediate(continueNext);
    });
    this.#work = new Stopwatch();
  }
}

function continueNext(): void {
  const resolve = waiting.shift();
  if (waiting.length > 0) setImmediate(continueNext);
  sliceEnd = performance.now() + SLICE_MS;
  resolve?.();
}

/**
 * The processor time of this thread since it was made. Node 20 counts that of the whole process,
 * which includes the compiler and the garbage collector beside it, so elapsed time is a second limit;
 * alone, on a busy machine, that would cut off legitimate calendars.
 */
class Stopwatch {
  readonly #at = performance.now();
  readonly #processorAt = process.cpuUsage();

  get usedMs(): number {
    const { user, system } = process.cpuUsage(this.#processorAt);
    return Math.min((user + system) / 1000, performance.now() - this.#at);
  }
}
