import { open, readFile } from "node:fs/promises";
import { dirname } from "node:path";
import { asDiskFault } from "@mantel/plugin-sdk/document-file";
import { syncFolder } from "@mantel/plugin-sdk/durable-file";

const LINE_BREAK = 0x0a;

/**
 * Appends a record to a file of JSON lines that only its owner may read; resolves when it is on
 * disk. Several processes may append to one file: each record is one write.
 *
 * The line begins with its own line break, so that a record truncated by a crash cannot
 * merge with the next. Readers skip empty lines.
 *
 * @throws MantelError `disk_full`, `disk_read_only`; a part that was written is removed
 */
export async function appendLine(path: string, record: object): Promise<void> {
  try {
    await append(path, Buffer.from(`\n${JSON.stringify(record)}\n`));
  } catch (cause) {
    throw asDiskFault(cause, path);
  }
}

async function append(path: string, line: Buffer): Promise<void> {
  const file = await open(path, "a", 0o600);
  try {
    const isNew = (await file.stat()).size === 0;
    const { bytesWritten } = await file.write(line);
    if (bytesWritten < line.length) {
      // write(2) reports no error when a part of the bytes still fits on the disk.
      await blankOut(path, line.subarray(0, bytesWritten));
      const detail = `${bytesWritten} of ${line.length} bytes were written`;
      throw Object.assign(new Error(detail), { code: "ENOSPC" });
    }
    await file.datasync();
    if (isNew) await syncFolder(dirname(path));
  } finally {
    await file.close();
  }
}

/**
 * Replaces a truncated record with line breaks. The file keeps its size, because another process may already
 * have added a record. If that fails, readers skip the truncated record.
 */
async function blankOut(path: string, truncated: Buffer): Promise<void> {
  try {
    const at = findTruncated(await readFile(path), truncated);
    if (at === undefined) return;
    const file = await open(path, "r+");
    try {
      await file.write(Buffer.alloc(truncated.length, "\n"), 0, truncated.length, at);
      await file.datasync();
    } finally {
      await file.close();
    }
  } catch {
    // The caller reports the full disk.
  }
}

/** The position of a truncated record: unlike a whole one that begins alike, a line break or the end follows it. */
function findTruncated(content: Buffer, truncated: Buffer): number | undefined {
  let at = content.indexOf(truncated);
  while (at >= 0) {
    const next = content[at + truncated.length];
    if (next === undefined || next === LINE_BREAK) return at;
    at = content.indexOf(truncated, at + 1);
  }
  return undefined;
}
