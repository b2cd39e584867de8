import { renameSync, rmSync } from "node:fs";
import { StorageDamaged, StorageFull, StorageUnusable } from "./storage.ts";

function codeOf(error: unknown): string {
  const { code = "" } = error as { readonly code?: string };
  return typeof code === "string" ? code : "";
}

/** True for the error of a damaged file. */
export function isDamage(error: unknown): boolean {
  return /^SQLITE_(CORRUPT|NOTADB)/.test(codeOf(error)) || error instanceof RangeError;
}

/** The error of SQLite as one that the recorder understands; others as they are. */
export function toStorageError(error: unknown): unknown {
  const code = codeOf(error);
  if (code === "SQLITE_FULL" || /^SQLITE_IOERR_(WRITE|FSYNC|SHM)/.test(code) || code === "ENOSPC")
    return new StorageFull("the disk is full", { cause: error });
  if (/^SQLITE_(BUSY|LOCKED)/.test(code)) {
    return new StorageUnusable("another program locks the history", { cause: error });
  }
  if (/^SQLITE_(CANTOPEN|READONLY|PERM|AUTH)/.test(code)) {
    return new StorageUnusable("the folder history cannot be written", { cause: error });
  }
  return error;
}

/** Renames a damaged file. Of several damaged ones the last is kept. */
export function setAside(path: string, cause: unknown): StorageDamaged {
  const name = `${path}.damaged-file`;
  renameSync(path, name);
  for (const end of ["-wal", "-shm"]) rmSync(path + end, { force: true });
  return new StorageDamaged(`the history was damaged; it is kept as ${name}`, { cause });
}
