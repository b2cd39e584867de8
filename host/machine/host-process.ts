import { readdirSync } from "node:fs";
import { monitorEventLoopDelay } from "node:perf_hooks";
import type { HostProcessFigures } from "@mantel/plugin-sdk/services";
import { DelayedCall } from "@mantel/plugin-sdk/timers";

/** Each sample wakes the process: two histograms used 1.2 % of a core with one each 10 ms, and one uses 0.3 % with this. */
const LOOP_RESOLUTION_MS = 50;
/** A histogram has 360 kB, and is dropped when nobody has asked for this long. */
const LAG_KEPT_MS = 60_000;

/** Measures this process from one call to the next. */
export class HostProcess {
  #lag: LoopLag | undefined;
  readonly #dropLag = new DelayedCall(() => this.close());
  #cpu = process.cpuUsage();
  #measuredAt = performance.now();

  measure(): HostProcessFigures {
    const { rss, heapUsed } = process.memoryUsage();
    return {
      pid: process.pid,
      uptimeSeconds: process.uptime(),
      cpuPercent: this.#cpuPercent(),
      memoryBytes: rss,
      heapBytes: heapUsed,
      eventLoopLagP99Ms: this.#lagMs(),
    };
  }

  /** Stops measuring the event loop until the next call. */
  close(): void {
    this.#dropLag.stop();
    this.#lag?.close();
    this.#lag = undefined;
  }

  #cpuPercent(): number {
    const cpu = process.cpuUsage();
    const now = performance.now();
    const busyMs = (cpu.user + cpu.system - this.#cpu.user - this.#cpu.system) / 1_000;
    const percent = (100 * busyMs) / Math.max(now - this.#measuredAt, 1);
    this.#cpu = cpu;
    this.#measuredAt = now;
    return Math.round(percent * 10) / 10;
  }

  #lagMs(): number {
    this.#lag ??= new LoopLag();
    const p99Ms = this.#lag.percentileMs(99);
    this.#lag.reset();
    this.#dropLag.restart(LAG_KEPT_MS);
    return Math.round(p99Ms * 10) / 10;
  }
}

/** Open files, sockets and pipes of this process; NaN without `/proc` (proc(5)). */
export function openDescriptors(): number {
  try {
    return readdirSync("/proc/self/fd").length - 1; // without the descriptor of this listing
  } catch {
    return Number.NaN;
  }
}

/** The delay of this process's timers since the last reset. */
export class LoopLag {
  readonly #delay = monitorEventLoopDelay({ resolution: LOOP_RESOLUTION_MS });

  constructor() {
    this.#delay.enable();
  }

  /** The histogram has the time between two ticks; its resolution is not part of the delay. */
  percentileMs(percentile: number): number {
    if (this.#delay.count === 0) return 0;
    return Math.max(0, this.#delay.percentile(percentile) / 1e6 - LOOP_RESOLUTION_MS);
  }

  reset(): void {
    this.#delay.reset();
  }

  close(): void {
    this.#delay.disable();
  }
}
