import { MantelError } from "@mantel/plugin-sdk/errors";
import type { JsonShape } from "../json-shape.ts";

/** A home has some hundred KiB. These limits bound the cost of a hostile file, and are far above any home. */
export const MAX_FILES = 4_096;
export const MAX_FILE_BYTES = 32 * 2 ** 20;
/** The unpacked size of a backup, which is JSON: contents take a third more there than in their files. */
export const MAX_UNPACKED_BYTES = 128 * 2 ** 20;
/** The contents that fit into that, with some room for names. */
export const MAX_HOME_BYTES = 90 * 2 ** 20;
/** The size of a backup file. Random contents do not compress, so it may be as large as its unpacked size. */
export const MAX_PACKED_BYTES = 128 * 2 ** 20;

/** The limits of a JSON text. */
export interface JsonLimits {
  readonly maxDepth: number;
  /** Values and keys. */
  readonly maxParts: number;
}

/** Call it before the text is parsed. @throws MantelError `invalid`, in which `name` names the text */
export function requireWithinLimits(
  { depth, values, members }: JsonShape,
  { maxDepth, maxParts }: JsonLimits,
  name: string,
): void {
  if (depth > maxDepth) {
    throw new MantelError("invalid", `${name} is nested more than ${maxDepth} levels deep`);
  }
  if (values + members > maxParts) {
    throw new MantelError("invalid", `${name} contains more than ${maxParts} parts`);
  }
}

export const mebibytes = (bytes: number): string => `${Math.round(bytes / 2 ** 20)} MiB`;
