import { mkdir, readFile, rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { syncFolder, writeDurably } from "@mantel/plugin-sdk/durable-file";
import type { HostLog } from "../log.ts";

const FOLDER = ".replacement";

interface Plan {
  /** What is moved out of the way, by path in the data folder; it was there when the plan was made. */
  readonly aside: readonly string[];
  readonly files: readonly string[];
  /** Where what was there is kept, in the data folder. */
  readonly keptIn: string;
}

/** Files of a data folder that are replaced together, from the moment `prepare` resolves. */
export interface Replacement {
  readonly aside: readonly string[];
  readonly files: ReadonlyMap<string, Buffer>;
}

/**
 * Replaces many files of a data folder as one. A crash before it is planned changes nothing; after one
 * later, the next start finishes it. Hold the lock of the folder.
 *
 * @returns the folder in the data folder that keeps what was there
 */
export async function replaceFiles(dataFolder: string, replacement: Replacement): Promise<string> {
  await planReplacement(dataFolder, replacement);
  return (await finishReplacement(dataFolder)) ?? "";
}

/**
 * Lays all that is new on the disk, and the plan after it: the next start replaces the files. A plan
 * that was laid before is dropped. Hold the lock of the folder.
 */
export async function planReplacement(
  dataFolder: string,
  { aside, files }: Replacement,
): Promise<void> {
  const staging = join(dataFolder, FOLDER);
  await rm(staging, { recursive: true, force: true });
  try {
    for (const [path, bytes] of files) await writeWithFolder(join(staging, "new", path), bytes);
    const keptIn = `before-restore-${new Date().toISOString().replaceAll(":", "-")}`;
    const plan: Plan = { aside, files: [...files.keys()], keptIn };
    await writeWithFolder(join(staging, "plan.json"), JSON.stringify(plan));
  } catch (error) {
    await rm(staging, { recursive: true, force: true });
    throw error;
  }
}

/**
 * Finishes what a crash has cut off, or forgets what was not whole yet. Gives where the files that were
 * replaced are kept, or `undefined` when there was nothing to finish.
 */
export async function finishReplacement(
  dataFolder: string,
  log?: HostLog,
): Promise<string | undefined> {
  const staging = join(dataFolder, FOLDER);
  const text = await readFile(join(staging, "plan.json"), "utf8").catch(() => undefined);
  if (text === undefined) {
    await rm(staging, { recursive: true, force: true });
    return undefined;
  }
  const { aside, files, keptIn } = JSON.parse(text) as Plan;
  const kept = join(dataFolder, keptIn);
  await mkdir(kept, { recursive: true, mode: 0o700 });
  for (const path of aside) await moveUnlessThere(join(dataFolder, path), join(kept, path));
  for (const path of files) await move(join(staging, "new", path), join(dataFolder, path));
  await syncFolder(dataFolder);
  await rm(staging, { recursive: true });
  log?.warn("a restore is finished that was planned, or cut off", { files: files.length, kept });
  return keptIn;
}

/** What was moved before a crash is not moved again: its name may have its new content by now. */
async function moveUnlessThere(from: string, to: string): Promise<void> {
  if (!(await isThere(to))) await move(from, to);
}

async function move(from: string, to: string): Promise<void> {
  if (!(await isThere(from))) return;
  await mkdir(dirname(to), { recursive: true, mode: 0o700 });
  await rename(from, to);
  await syncFolder(dirname(to));
}

async function isThere(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined)) !== undefined;
}

async function writeWithFolder(path: string, content: string | Buffer): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  await writeDurably(path, content);
}
