import { createHash } from "node:crypto";

/** The part of a file's name that says which code is in it. */
export function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 16);
}
