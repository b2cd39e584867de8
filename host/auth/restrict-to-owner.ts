import { chmod, readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import type { HostLog } from "../log.ts";

/** Files of the data folder with secrets or personal data, including their copies and rotations. */
const PRIVATE = /^(keys|secrets|tokens|token-use|audit|config\.pending)\./;

/**
 * Makes the files with secrets readable for their owner only, and logs it. Backups, editors and copies
 * may have set other permissions.
 */
export async function restrictToOwner(dataFolder: string, log: HostLog): Promise<void> {
  for (const name of await readdir(dataFolder)) {
    if (!PRIVATE.test(name)) continue;
    const path = join(dataFolder, name);
    const mode = await restrict(path).catch(ignoreGone);
    if (mode === undefined) continue;
    log.warn("a file with secrets was readable by other users; restricted it to its owner", {
      path,
      mode: (mode & 0o777).toString(8),
    });
  }
}

/** The mode that a file had; `undefined` if it was private already. */
async function restrict(path: string): Promise<number | undefined> {
  const { mode } = await stat(path);
  if ((mode & 0o077) === 0) return undefined;
  await chmod(path, 0o600);
  return mode;
}

/** A command reads the folder while a host writes in it. */
function ignoreGone(error: NodeJS.ErrnoException): undefined {
  if (error.code !== "ENOENT") throw error;
}
