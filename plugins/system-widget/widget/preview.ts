import type { Sample } from "./sample.ts";

/** A sample for the preview in the editor. */
export function previewSample(): Sample {
  const GIB = 2 ** 30;
  return {
    sampledAt: new Date().toISOString(),
    cpu: { percent: 23, perCore: [], loadAverage: [0, 0, 0], temperatureC: 48 },
    memory: { totalBytes: 8 * GIB, usedBytes: 3 * GIB, availableBytes: 5 * GIB, percent: 37 },
    temperature: { cpuC: 48, sensors: [] },
    uptime: { systemSeconds: 864_000, processSeconds: 86_400 },
    disks: [{ mount: "/", type: "ext4", totalBytes: 64 * GIB, usedBytes: 21 * GIB, percent: 33 }],
    process: {
      pid: 1,
      uptimeSeconds: 86_400,
      cpuPercent: 2,
      memoryBytes: 0,
      heapBytes: 0,
      eventLoopLagP99Ms: 1,
    },
    network: [],
  };
}
