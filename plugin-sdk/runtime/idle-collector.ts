import v8 from "node:v8";
import vm from "node:vm";

const SAMPLE_MS = 5_000;
/** The share of one CPU below which a process is idle. A Raspberry Pi needs several percent for an idle host. */
const IDLE_PERCENT = 15;
/** The length of the idle time before a collection, in samples. */
const IDLE_SAMPLES = 2;
/** A smaller heap has little to give back. */
const LEAST_GROWTH_BYTES = 4 * 2 ** 20;
/** Marking takes about 1 ms per MiB that is in use. A heap above this would pause its process for too long. */
const LARGEST_HEAP_BYTES = 80 * 2 ** 20;
const LONGEST_PAUSE_MS = 50;
const SHORTEST_WAIT_MS = 60_000;

// Saved here, because a plugin's process forbids them before the plugin's code runs.
const { setFlagsFromString } = v8;
const { runInNewContext } = vm;

/** The process whose garbage is collected. Tests replace it. */
export interface CollectedProcess {
  /** Monotonic, in ms. */
  now(): number;
  /** The CPU time used since the start of the process, in microseconds. */
  cpuMicros(): number;
  heapBytes(): number;
  collect(): void;
}

/**
 * Collects the garbage of a process that has become idle, which V8 does not do: half of the memory after a start is
 * garbage. Collects twice, because V8 returns fragmented pages only then, and again when the heap of the idle process
 * has grown by a quarter. If a collection takes longer than 50 ms, the next one waits twice as long.
 */
export class IdleCollector {
  readonly #process: CollectedProcess;
  readonly #isWorking: () => boolean;
  #lastCpu: number;
  #lastAt: number;
  #idleSamples = 0;
  #heapAfter = 0;
  /** True between the two collections. */
  #isHalfDone = false;
  #waitMs = SHORTEST_WAIT_MS;
  #notBefore = 0;

  /** `isWorking` is true while the process has work under way, even if that uses no CPU time. */
  constructor(isWorking: () => boolean, collected: CollectedProcess = THIS_PROCESS) {
    this.#isWorking = isWorking;
    this.#process = collected;
    this.#lastCpu = collected.cpuMicros();
    this.#lastAt = collected.now();
  }

  /** Starts the timer, which does not keep the process alive. Returns the function that stops it. */
  start(startTimer: typeof setInterval = setInterval): () => void {
    const timer = startTimer(() => this.sample(), SAMPLE_MS);
    timer.unref();
    return () => clearInterval(timer);
  }

  /** Collects if the process has been idle long enough. Called every five seconds. */
  sample(): void {
    const at = this.#process.now();
    if (this.#isBusy(at)) {
      this.#idleSamples = 0;
      this.#isHalfDone = false;
      return;
    }
    this.#idleSamples++;
    const heapBytes = this.#process.heapBytes();
    if (this.#idleSamples < IDLE_SAMPLES || heapBytes > LARGEST_HEAP_BYTES) return;
    if (this.#isHalfDone || (at >= this.#notBefore && this.#hasGrown(heapBytes))) this.#collect(at);
  }

  #isBusy(at: number): boolean {
    const cpu = this.#process.cpuMicros();
    const percent = (cpu - this.#lastCpu) / (at - this.#lastAt) / 10;
    this.#lastCpu = cpu;
    this.#lastAt = at;
    return percent >= IDLE_PERCENT || this.#isWorking();
  }

  #hasGrown(heapBytes: number): boolean {
    return heapBytes - this.#heapAfter > Math.max(LEAST_GROWTH_BYTES, this.#heapAfter / 4);
  }

  #collect(at: number): void {
    this.#process.collect();
    const tookMs = this.#process.now() - at;
    this.#waitMs = tookMs > LONGEST_PAUSE_MS ? this.#waitMs * 2 : SHORTEST_WAIT_MS;
    this.#notBefore = at + this.#waitMs;
    this.#isHalfDone = !this.#isHalfDone && tookMs <= LONGEST_PAUSE_MS;
    this.#heapAfter = this.#process.heapBytes();
    this.#lastCpu = this.#process.cpuMicros(); // the collection itself is not work
  }
}

/** Collects all garbage of this process at once. */
export function collectGarbage(): void {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  setFlagsFromString("--no-expose-gc"); // contexts that a plugin creates do not get the function
  collect();
}

const THIS_PROCESS: CollectedProcess = {
  now: () => performance.now(),
  cpuMicros() {
    const { user, system } = process.cpuUsage();
    return user + system;
  },
  heapBytes: () => process.memoryUsage().heapUsed,
  collect: collectGarbage,
};
