import { MantelError } from "@mantel/plugin-sdk";

/** How long one piece of work may hold the process; the host wants a sign of life every second. */
const SLICE_MS = 20;
/** What one reading of a calendar may take of the processor. The largest that is read honestly takes half of it. */
const MAX_WORK_MS = 1_500;

const waiting: (() => void)[] = [];
let sliceEnd = 0;

/**
 * Says when long work should give way to the event loop, so that it delays nothing else. All works share one
 * slice, and go on one in each turn of the loop: a hundred of them hold it no longer than one does.
 */
export class Pace {
  #usedMs = 0;
  #wentOnAt = processorMs();

  constructor() {
    if (waiting.length === 0 && this.due) sliceEnd = performance.now() + SLICE_MS;
  }

  get due(): boolean {
    return performance.now() > sliceEnd;
  }

  /** @throws MantelError `invalid` when the work has taken too much already, however busy the machine is */
  async rest(): Promise<void> {
    this.#usedMs += processorMs() - this.#wentOnAt;
    if (this.#usedMs > MAX_WORK_MS) {
      throw new MantelError("invalid", "the calendar takes too long to work out");
    }
    await new Promise<void>((resolve) => {
      waiting.push(resolve);
      if (waiting.length === 1) setImmediate(goOn);
    });
    this.#wentOnAt = processorMs();
  }
}

function goOn(): void {
  const resolve = waiting.shift();
  if (waiting.length > 0) setImmediate(goOn);
  sliceEnd = performance.now() + SLICE_MS;
  resolve?.();
}

/** The time that passes is no measure: on a busy machine it would cut honest calendars short. */
function processorMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
