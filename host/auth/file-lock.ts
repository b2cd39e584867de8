import { open, rm, stat } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { asDiskFault } from "@mantel/plugin-sdk/document-file";

const POLL_MS = 10;
const PATIENCE_MS = 5_000;

/**
 * Runs work under the lock at `path`, which excludes this process and others. The work must take
 * milliseconds: a lock older than five seconds was left by a crash, and is taken over.
 *
 * @throws MantelError `disk_full`, `disk_read_only`; the work has not run then
 */
export async function withFileLock<T>(path: string, work: () => Promise<T>): Promise<T> {
  let holder = "";
  let heldSince = performance.now();
  while (!(await take(path))) {
    const now = await holderOf(path);
    if (now !== holder) [holder, heldSince] = [now, performance.now()];
    if (performance.now() - heldSince < PATIENCE_MS) await delay(POLL_MS);
    else await rm(path, { force: true, recursive: true });
  }
  try {
    return await work();
  } finally {
    await rm(path, { force: true });
  }
}

/** False if another holder has it. */
async function take(path: string): Promise<boolean> {
  try {
    await (await open(path, "wx", 0o600)).close();
    return true;
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw asDiskFault(cause, path);
  }
}

async function holderOf(path: string): Promise<string> {
  const found = await stat(path).catch(() => undefined);
  return found ? `${found.ino} ${found.mtimeMs}` : "nobody";
}
