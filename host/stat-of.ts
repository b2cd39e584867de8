import { lstatSync, type Stats, statSync } from "node:fs";

/**
 * What is at a path, behind links; `undefined` when nothing is, and when it cannot be looked at, such as
 * below a file (ENOTDIR), behind links in a circle (ELOOP) or without the right to (EACCES). Unlike
 * `statSync` it never throws, which in a timer or a listener would end the host.
 */
export function statOf(path: string): Stats | undefined {
  return found(statSync, path);
}

/** The same of a link itself. */
export function lstatOf(path: string): Stats | undefined {
  return found(lstatSync, path);
}

function found(look: (path: string) => Stats, path: string): Stats | undefined {
  try {
    return look(path);
  } catch {
    return undefined;
  }
}
