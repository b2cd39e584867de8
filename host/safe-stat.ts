import { lstatSync, type Stats, statSync } from "node:fs";

/**
 * The file at a path, following links; `undefined` if it does not exist or cannot be read, for example
 * below a file (ENOTDIR), behind circular links (ELOOP) or without permission (EACCES). Unlike
 * `statSync` it never throws, which in a timer or a listener would end the host.
 */
export function findStat(path: string): Stats | undefined {
  return found(statSync, path);
}

/** The same without following a final link. */
export function findLinkStat(path: string): Stats | undefined {
  return found(lstatSync, path);
}

function found(look: (path: string) => Stats, path: string): Stats | undefined {
  try {
    return look(path);
  } catch {
    return undefined;
  }
}
