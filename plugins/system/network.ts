import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { type Static, Type } from "@mantel/plugin-sdk";
import { networkStats } from "systeminformation";
import type { SystemSample } from "./channels.ts";

/** Bytes transferred by an interface since it came up. */
export const Traffic = Type.Object({
  name: Type.String(),
  receivedBytes: Type.Number(),
  sentBytes: Type.Number(),
});
export type Traffic = Static<typeof Traffic>;

/** The loopback, and virtual interfaces whose bytes are also counted at another one. */
const UNINTERESTING = /^(lo\d*$|veth|ifb|dummy)/;

/**
 * The traffic of each interface: from small files on Linux, from child processes elsewhere. Uses
 * sysfs and not `/proc/net/dev`, which shows only the network of the reading process, and that has
 * none.
 */
export async function readTraffic(): Promise<Traffic[]> {
  const all = process.platform === "linux" ? await readInterfaces() : await readStats();
  return all.filter(({ name }) => !UNINTERESTING.test(name));
}

/**
 * The interfaces in a folder such as `/sys/class/net` (sysfs(5)). An interface that disappears is
 * left out.
 */
export async function readInterfaces(folder = "/sys/class/net"): Promise<Traffic[]> {
  const read = async (name: string, counter: string): Promise<number> =>
    Number(await readFile(join(folder, name, "statistics", counter), "utf8"));
  const readOne = async (name: string): Promise<Traffic> => ({
    name,
    receivedBytes: await read(name, "rx_bytes"),
    sentBytes: await read(name, "tx_bytes"),
  });
  const found = await Promise.allSettled((await readdir(folder)).map(readOne));
  return found.flatMap((each) => (each.status === "fulfilled" ? [each.value] : []));
}

/** Rates in bytes per second. Null for an interface that is new or was reset. */
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
