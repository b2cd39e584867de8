import { chmod, readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import type { HostLog } from "../log.ts";

/** Files of the data folder with secrets or traces of people, with their copies and rotations. */
const PRIVATE = /^(keys|secrets|tokens|token-use|audit|config\.pending)\./;

/**
 * Takes the rights to the files with secrets from everyone but their owner, and says so. They get such
 * rights from a backup, an editor or a careless copy.
 */
export async function keepPrivate(dataFolder: string, log: HostLog): Promise<void> {
  for (const name of await readdir(dataFolder)) {
    if (!PRIVATE.test(name)) continue;
    const path = join(dataFolder, name);
    const { mode } = await stat(path);
    if ((mode & 0o077) === 0) continue;
    await chmod(path, 0o600);
    log.warn("a file with secrets could be read by others; it is its owner's alone again", {
      path,
      mode: (mode & 0o777).toString(8),
    });
  }
}
