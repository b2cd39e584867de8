import { stat } from "node:fs/promises";

const PAUSE_MS = 2;
/** The number of checks before an empty file counts as intentionally empty. */
const TRIES = 100;

/**
 * Waits for the content of a file that an editor has truncated and is about to write. Returns for a file
 * that stays empty or does not exist.
 */
export async function waitForContent(path: string): Promise<void> {
  for (let tries = 0; tries < TRIES && (await isEmpty(path)); tries++) {
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
}

async function isEmpty(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => undefined);
  return found?.isFile() === true && found.size === 0;
}
