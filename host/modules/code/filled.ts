import { stat } from "node:fs/promises";

const PAUSE_MS = 2;
/** How often an empty file is looked at again before it counts as meant to be empty. */
const TRIES = 100;

/**
 * Waits for the content of a file that an editor has truncated and is about to write. A file that
 * stays empty is meant so; one that is not there is not waited for.
 */
export async function filled(path: string): Promise<void> {
  for (let tries = 0; tries < TRIES && (await isEmpty(path)); tries++) {
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
}

async function isEmpty(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => undefined);
  return found?.isFile() === true && found.size === 0;
}
