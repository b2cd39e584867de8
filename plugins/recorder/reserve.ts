import { closeSync, existsSync, openSync, rmSync, writeSync } from "node:fs";

/** Enough for SQLite to drop something. */
const RESERVE_BYTES = 4 * 2 ** 20;

/** Puts a file of zeros beside the database, which is deleted on a full disk. Returns false if there is no room for it. */
export function reserveSpace(database: string): boolean {
  const path = reserveOf(database);
  if (existsSync(path)) return true;
  try {
    const file = openSync(path, "w", 0o600);
    try {
      if (writeSync(file, Buffer.alloc(RESERVE_BYTES)) === RESERVE_BYTES) return true;
    } finally {
      closeSync(file);
    }
  } catch {
    // the disk is full
  }
  rmSync(path, { force: true });
  return false;
}

/** Deletes the file that `reserveSpace` has put there. */
export function freeReserve(database: string): void {
  rmSync(reserveOf(database), { force: true });
}

const reserveOf = (database: string): string => `${database}-reserve`;
