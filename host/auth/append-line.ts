import { open } from "node:fs/promises";
import { dirname } from "node:path";
import { asDiskFault } from "@mantel/plugin-sdk/document-file";
import { syncFolder } from "@mantel/plugin-sdk/durable-file";

/**
 * Appends a record to a file of JSON lines that only its owner may read; resolves when it is on
 * disk. Several processes may append to one file: each record is one write.
 *
 * The line begins with its own line break, so that a record truncated by a crash cannot
 * merge with the next. Readers skip empty lines.
 *
 * @throws MantelError `disk_full`, `disk_read_only`
 */
export async function appendLine(path: string, record: object): Promise<void> {
  try {
    await append(path, `\n${JSON.stringify(record)}\n`);
  } catch (cause) {
    throw asDiskFault(cause, path);
  }
}

async function append(path: string, text: string): Promise<void> {
  const file = await open(path, "a", 0o600);
  try {
    const isNew = (await file.stat()).size === 0;
    await file.write(text);
    await file.datasync();
    if (isNew) await syncFolder(dirname(path));
  } finally {
    await file.close();
  }
}
