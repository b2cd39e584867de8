import type { SystemSample } from "@mantel/plugin-sdk";
import { cpuTemperature, fsSize, mem, type Systeminformation } from "systeminformation";

/** Memory as people mean it: what programs could still get counts as available. */
export async function readMemory(): Promise<SystemSample["memory"]> {
  const { total, available } = await mem();
  const usedBytes = total - available;
  return {
    totalBytes: total,
    usedBytes,
    availableBytes: available,
    percent: Math.round((1_000 * usedBytes) / total) / 10,
  };
}

/** Null, and no sensors, on machines that have none, such as virtual ones. */
export async function readTemperature(): Promise<SystemSample["temperature"]> {
  return toTemperature(await cpuTemperature());
}

export function toTemperature({
  main,
  cores,
  socket = [],
  chipset,
}: Systeminformation.CpuTemperatureData): SystemSample["temperature"] {
  const numbered = (kind: string, values: readonly number[]) =>
    values.map((celsius, at) => ({ name: `${kind} ${at + 1}`, celsius }));
  return {
    cpuC: main,
    sensors: [
      ...numbered("core", cores),
      ...numbered("socket", socket),
      ...(chipset == null ? [] : [{ name: "chipset", celsius: chipset }]),
    ],
  };
}

/** Each file system that has a size, once. */
export async function readDisks(): Promise<SystemSample["disks"]> {
  return toDisks(await fsSize());
}

export function toDisks(sizes: readonly Systeminformation.FsSizeData[]): SystemSample["disks"] {
  const byDevice = new Map<string, Systeminformation.FsSizeData>();
  for (const size of sizes) {
    if (!(size.size > 0) || size.type === "squashfs") continue;
    // Bind mounts show one device several times; the shortest path is the one people know.
    const key = size.fs.startsWith("/dev/") ? size.fs : size.mount;
    const known = byDevice.get(key);
    if (!known || size.mount.length < known.mount.length) byDevice.set(key, size);
  }
  return [...byDevice.values()].map(({ mount, type, size, used, use }) => ({
    mount,
    type,
    totalBytes: size,
    usedBytes: used,
    percent: Number.isFinite(use) ? Math.min(Math.max(use, 0), 100) : null,
  }));
}
