import type { MachineDisk } from "@mantel/plugin-sdk";
import { cpuTemperature, mem, type Systeminformation } from "systeminformation";
import type { SystemSample } from "./channels.ts";

/** Memory usage: memory that programs could still get counts as available. */
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

/** Null, and no sensors, on machines without any, such as virtual ones. */
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

/** Each file system with a size, listed once. */
export function toDisks(listed: readonly MachineDisk[]): SystemSample["disks"] {
  const byDevice = new Map<string, MachineDisk>();
  for (const disk of listed) {
    if (!(disk.totalBytes > 0) || disk.type === "squashfs") continue;
    // Bind mounts list one device several times; the shortest path is the familiar one.
    const key = disk.device.startsWith("/dev/") ? disk.device : disk.mount;
    const known = byDevice.get(key);
    if (!known || disk.mount.length < known.mount.length) byDevice.set(key, disk);
  }
  return [...byDevice.values()].map(({ mount, type, totalBytes, usedBytes }) => ({
    mount,
    type,
    totalBytes,
    usedBytes,
    percent: Math.min(100, Math.round((10_000 * usedBytes) / totalBytes) / 100),
  }));
}
