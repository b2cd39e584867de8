import { open, rm, stat } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { asDiskFault } from "@mantel/plugin-sdk/document-file";

const POLL_MS = 10;
const PATIENCE_MS = 5_000;

/**
 * Does work while nobody else, in this process or another, does any under the lock at `path`. What takes
 * milliseconds is meant: a lock that is held for five seconds was left by a crash, and is taken over.
 *
 * @throws MantelError `disk_full`, `disk_read_only`; nothing is done then
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

/** False when somebody else has it. */
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
