import { readdirSync } from "node:fs";
import { monitorEventLoopDelay } from "node:perf_hooks";
import type { HostProcessFigures } from "@mantel/plugin-sdk/services";

const LOOP_RESOLUTION_MS = 10;

/** Measures this process from one call to the next. */
export class HostProcess {
  readonly #lag = new LoopLag();
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

  close(): void {
    this.#lag.close();
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
    const p99Ms = this.#lag.percentileMs(99);
    this.#lag.reset();
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
