import { readFile } from "node:fs/promises";
import { type Static, type SystemSample, Type } from "@mantel/plugin-sdk";
import { networkStats } from "systeminformation";

/** Bytes that an interface has moved since it came up. */
export const Traffic = Type.Object({
  name: Type.String(),
  receivedBytes: Type.Number(),
  sentBytes: Type.Number(),
});
export type Traffic = Static<typeof Traffic>;

/** The loopback, and virtual interfaces whose bytes are counted at another one as well. */
const UNINTERESTING = /^(lo\d*$|veth|ifb|dummy)/;

/** The traffic of each interface. On Linux one small file says it, and elsewhere child processes do. */
export async function readTraffic(): Promise<Traffic[]> {
  const all =
    process.platform === "linux"
      ? parseProcNetDev(await readFile("/proc/net/dev", "utf8"))
      : await readStats();
  return all.filter(({ name }) => !UNINTERESTING.test(name));
}

/** The traffic in `/proc/net/dev` (proc(5)): bytes received first, bytes sent ninth. */
export function parseProcNetDev(text: string): Traffic[] {
  return text.split("\n").flatMap((line) => {
    const [, name, counters] = /^\s*(\S+):\s*(.+)$/.exec(line) ?? [];
    if (name === undefined || counters === undefined) return [];
    const figures = counters.split(/\s+/).map(Number);
    return [{ name, receivedBytes: figures[0] ?? 0, sentBytes: figures[8] ?? 0 }];
  });
}

/** Rates in bytes per second. Null for an interface that is new, or that has started over. */
export function ratesBetween(
  before: readonly Traffic[],
  now: readonly Traffic[],
  elapsedMs: number,
): SystemSample["network"] {
  return now.map(({ name, receivedBytes, sentBytes }) => {
    const last = before.find((each) => each.name === name);
    const rate = (from: number | undefined, to: number): number | null =>
      from === undefined || to < from || elapsedMs <= 0
        ? null
        : Math.round((1_000 * (to - from)) / elapsedMs);
    return {
      name,
      receivedPerSecond: rate(last?.receivedBytes, receivedBytes),
      sentPerSecond: rate(last?.sentBytes, sentBytes),
    };
  });
}

async function readStats(): Promise<Traffic[]> {
  const stats = await networkStats("*");
  return stats.map(({ iface, rx_bytes, tx_bytes }) => ({
    name: iface,
    receivedBytes: rx_bytes,
    sentBytes: tx_bytes,
  }));
}
