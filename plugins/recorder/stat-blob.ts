import type { Stat } from "./statistics.ts";
import { STEP_MS } from "./statistics.ts";

const FIELDS = 6;

/** Packs the figures of the five minutes of an hour: 24 bytes each. */
export const StatBlob = {
  pack(base: number, stats: readonly Stat[]): Uint8Array {
    const floats = new Float32Array(stats.length * FIELDS);
    for (const [index, { from, min, mean, max, sum, knownMs }] of stats.entries()) {
      floats.set([(from - base) / STEP_MS, min, mean, max, sum, knownMs], index * FIELDS);
    }
    return new Uint8Array(floats.buffer);
  },

  unpack(base: number, bytes: Uint8Array): Stat[] {
    const floats = new Float32Array(bytes.slice().buffer);
    const stats: Stat[] = [];
    for (let at = 0; at + FIELDS <= floats.length; at += FIELDS) {
      const [step = 0, min = 0, mean = 0, max = 0, sum = 0, knownMs = 0] = floats.subarray(
        at,
        at + FIELDS,
      );
      const from = base + step * STEP_MS;
      stats.push({ from, to: from + STEP_MS, min, mean, max, sum, knownMs });
    }
    return stats;
  },
};
