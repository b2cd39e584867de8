import { createHash } from "node:crypto";
import { availableParallelism, loadavg } from "node:os";
import { performance } from "node:perf_hooks";

/** A quiet core of the machine that the limits of the tests were chosen on takes so long for `work`. */
const QUIET_MS = 150;
const WORK_BYTES = 32 * 2 ** 20;
const MOST = 6;
/** Test processes for each core that hardly slow each other down. */
const PROCESSES_PER_CORE = 1.5;

/**
 * The factor that waits of tests are multiplied with: 1 on a quiet machine, more on a slow or a busy one, and with many
 * test processes `atOnce`.
 */
export function measureLoad(atOnce: number): number {
  const startedAt = performance.now();
  createHash("sha256").update(Buffer.alloc(WORK_BYTES)).digest();
  const slowness = (performance.now() - startedAt) / QUIET_MS;
  const [lastMinute = 0] = loadavg();
  const cores = availableParallelism();
  const factor = Math.max(1, slowness, lastMinute / cores, atOnce / cores / PROCESSES_PER_CORE);
  return Math.round(Math.min(MOST, factor) * 10) / 10;
}
