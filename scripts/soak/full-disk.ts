import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { readdir, rm, statfs, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { openHome } from "../bench/bench-home.ts";
import { KillableHost } from "./killable-host.ts";

/** Disk size: slightly more than a host with one plugin needs. */
const DISK_MIB = 20;
/** Maximum free space while a document is written. In half of the rounds there is a quarter of it or less. */
const LAST_BYTES = 60_000;

/** The result of a run on a full disk. */
export interface FullDiskCount {
  readonly rounds: number;
  /** Number of answers by status. */
  readonly statuses: Readonly<Record<number, number>>;
  readonly lost: number;
  readonly corrupt: number;
  /** Leftover temporary files. */
  readonly left: number;
}

/**
 * Writes layout, config, tokens and scenes while a real file system of a few MiB is full or nearly full, and checks after each write
 * that the documents are complete.
 *
 * @throws Error if mounting a file system fails, which needs root
 */
export async function fillDiskRepeatedly(count: number): Promise<FullDiskCount> {
  const home = await openHome();
  const unmount = mountSmall(home.data);
  const host = new KillableHost(home);
  const statuses: Record<number, number> = {};
  let lost = 0;
  try {
    await host.start();
    await host.writeAll();
    for (let round = 0; round < count; round++) {
      await fill(home.data, Math.random() ** 2 * LAST_BYTES);
      for (const status of await host.writeAll()) statuses[status] = (statuses[status] ?? 0) + 1;
      if (round % 10 === 9) await restartWithRoom(host, home.data);
      lost += (await host.lost()).length;
    }
    const corrupt = (await host.setAside()).length;
    return { rounds: count, statuses, lost, corrupt, left: await temporaryFiles(home.data) };
  } finally {
    await host.stop();
    unmount();
    await home.remove();
  }
}

/** Restarts the host with free space, so that it reads the stored documents from the disk. */
async function restartWithRoom(host: KillableHost, folder: string): Promise<void> {
  await host.kill();
  await rm(fillerIn(folder), { force: true });
  await host.start();
}

function mountSmall(folder: string): () => void {
  mkdirSync(folder, { recursive: true });
  const options = `size=${DISK_MIB}m,mode=700`;
  execFileSync("mount", ["-t", "tmpfs", "-o", options, "tmpfs", folder], { stdio: "pipe" });
  return () => void execFileSync("umount", [folder]);
}

/** Fills the disk until at most `bytes` are free. */
async function fill(folder: string, bytes: number): Promise<void> {
  await rm(fillerIn(folder), { force: true });
  const { bavail, bsize } = await statfs(folder);
  const filler = Buffer.alloc(Math.max(0, bavail * bsize - bytes));
  await writeFile(fillerIn(folder), filler).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOSPC") throw error; // the host has written meanwhile, so that it is full
  });
}

const fillerIn = (folder: string) => join(folder, "filler");

async function temporaryFiles(folder: string): Promise<number> {
  return (await readdir(folder, { recursive: true })).filter((name) => name.endsWith(".tmp"))
    .length;
}
