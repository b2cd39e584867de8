import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { readdir, rm, statfs, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { openHome } from "../bench/house.ts";
import { WrittenHouse } from "./written-house.ts";

/** Room for what a host without plugins keeps, and little more. */
const DISK_MIB = 16;
/** What is left free, at most, when a document is written. */
const LAST_BYTES = 60_000;

/** What a run on a disk that fills up has shown. */
export interface FullDiskCount {
  readonly rounds: number;
  /** Answers by status. */
  readonly statuses: Readonly<Record<number, number>>;
  readonly lost: number;
  readonly corrupt: number;
  /** Temporary files that were left behind. */
  readonly left: number;
}

/**
 * Writes layout and config while a real file system of a few MiB is full or nearly so, and looks
 * whether the documents are whole each time.
 *
 * @throws Error when no file system may be mounted here, which takes root
 */
export async function fillAgainAndAgain(count: number): Promise<FullDiskCount> {
  const home = await openHome();
  const unmount = mountSmall(home.data);
  const house = new WrittenHouse(home);
  const statuses: Record<number, number> = {};
  let lost = 0;
  try {
    await house.start();
    await house.writeAll();
    for (let round = 0; round < count; round++) {
      await fill(home.data, Math.random() * LAST_BYTES);
      for (const status of await house.writeAll()) statuses[status] = (statuses[status] ?? 0) + 1;
      if (round % 10 === 9) await restartWithRoom(house, home.data);
      lost += (await house.lost()).length;
    }
    const corrupt = (await house.setAside()).length;
    return { rounds: count, statuses, lost, corrupt, left: await temporaryFiles(home.data) };
  } finally {
    await house.stop();
    unmount();
    await home.remove();
  }
}

/** What was stored is read from the disk again. */
async function restartWithRoom(house: WrittenHouse, folder: string): Promise<void> {
  await house.kill();
  await rm(fillerIn(folder), { force: true });
  await house.start();
}

function mountSmall(folder: string): () => void {
  mkdirSync(folder, { recursive: true });
  const options = `size=${DISK_MIB}m,mode=700`;
  execFileSync("mount", ["-t", "tmpfs", "-o", options, "tmpfs", folder], { stdio: "pipe" });
  return () => void execFileSync("umount", [folder]);
}

/** Leaves `bytes` free, as far as there is that much. */
async function fill(folder: string, bytes: number): Promise<void> {
  await rm(fillerIn(folder), { force: true });
  const { bavail, bsize } = await statfs(folder);
  await writeFile(fillerIn(folder), Buffer.alloc(Math.max(0, bavail * bsize - bytes)));
}

const fillerIn = (folder: string) => join(folder, "filler");

async function temporaryFiles(folder: string): Promise<number> {
  return (await readdir(folder, { recursive: true })).filter((name) => name.endsWith(".tmp"))
    .length;
}
