import { open } from "node:fs/promises";
import { dirname } from "node:path";
import { syncFolder } from "@mantel/plugin-sdk/durable-file";
import { MantelError } from "@mantel/plugin-sdk/errors";

/**
 * Adds a record to a file of JSON lines that only its owner may read, and resolves when it is on the
 * disk. Several processes may append to one file: each record is one write.
 *
 * The line begins with a line break of its own, so that a record which a crash has cut off cannot
 * swallow the next. Readers skip empty lines.
 *
 * @throws MantelError `disk_full`
 */
export async function appendLine(path: string, record: object): Promise<void> {
  const file = await open(path, "a", 0o600);
  try {
    const isNew = (await file.stat()).size === 0;
    await file.write(`\n${JSON.stringify(record)}\n`);
    await file.datasync();
    if (isNew) await syncFolder(dirname(path));
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== "ENOSPC") throw cause;
    throw new MantelError("disk_full", `${path} cannot grow, because the disk is full`, { cause });
  } finally {
    await file.close();
  }
}
