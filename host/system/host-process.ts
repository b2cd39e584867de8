import { monitorEventLoopDelay } from "node:perf_hooks";
import { Type, type Static } from "typebox";

const LOOP_RESOLUTION_MS = 10;

/** The host's own process. Percentages are of one core, so several busy threads may pass 100. */
export const ProcessFigures = Type.Object({
  pid: Type.Integer(),
  uptimeSeconds: Type.Number(),
  /** Since the sample before. */
  cpuPercent: Type.Number({ minimum: 0 }),
  /** Resident memory. */
  memoryBytes: Type.Integer(),
  heapBytes: Type.Integer(),
  /** How late timers were since the sample before, 99th percentile. */
  eventLoopLagP99Ms: Type.Number({ minimum: 0 }),
});
export type ProcessFigures = Static<typeof ProcessFigures>;

/** Measures this process from one call to the next. */
export class HostProcess {
  readonly #delay = monitorEventLoopDelay({ resolution: LOOP_RESOLUTION_MS });
  #cpu = process.cpuUsage();
  #measuredAt = performance.now();

  constructor() {
    this.#delay.enable();
  }

  measure(): ProcessFigures {
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
    this.#delay.disable();
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

  /** The histogram holds the time between two ticks, of which the resolution itself is no lag. */
  #lagMs(): number {
    const p99Ms = this.#delay.count > 0 ? this.#delay.percentile(99) / 1e6 : 0;
    this.#delay.reset();
    return Math.max(0, Math.round((p99Ms - LOOP_RESOLUTION_MS) * 10) / 10);
  }
}
