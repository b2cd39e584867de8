import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { onTestEnd } from "./on-test-end.ts";

/** For tests of what the host does with files on a disk: other temporary files may lie in memory. */
export const DISK = "/var/tmp";

/** An empty folder that is removed when the test ends, after what was opened in it with `atEnd`. */
export async function emptyFolder(t: TestContext, within = tmpdir()): Promise<string> {
  const folder = await mkdtemp(join(within, "mantel-test-"));
  onTestEnd(t, () => removeFolder(folder));
  return folder;
}

/** Removes a folder in which a write may still be going on. */
export function removeFolder(folder: string): Promise<void> {
  return rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 20 });
}

/** As `emptyFolder`, with these files. */
export async function folderWith(
  t: TestContext,
  files: Readonly<Record<string, string>>,
): Promise<string> {
  const folder = await emptyFolder(t);
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  return folder;
}
