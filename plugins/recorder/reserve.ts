import { closeSync, existsSync, ftruncateSync, openSync, rmSync, writeSync } from "node:fs";

/** Enough for SQLite to drop something. */
const RESERVE_BYTES = 4 * 2 ** 20;

/** Puts a file of zeros beside the database, if there is room. It is deleted on a full disk, to make some. */
export function reserveSpace(database: string): void {
  const path = reserveOf(database);
  if (existsSync(path)) return;
  try {
    const file = openSync(path, "w", 0o600);
    try {
      const zeros = Buffer.alloc(RESERVE_BYTES);
      if (writeSync(file, zeros) < RESERVE_BYTES) ftruncateSync(file, 0);
    } finally {
      closeSync(file);
    }
  } catch {
    rmSync(path, { force: true }); // the disk is full
  }
}

/** Deletes the file that `reserveSpace` has put there. */
export function freeReserve(database: string): void {
  rmSync(reserveOf(database), { force: true });
}

const reserveOf = (database: string): string => `${database}-reserve`;
