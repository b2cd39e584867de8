import { readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { findStat } from "../../safe-stat.ts";

/** The time that a used file may be missing: editors move it away before they write it again. */
const MISSING_MS = 50;
/** The time that a file may be empty: editors truncate it before they write. */
const EMPTY_MS = 200;
/** A new folder is complete after this time without a change: copies and scaffolds write one file after the other. */
const NEW_FOLDER_MS = 250;
/** The longest wait for a new folder, in which something may never stop writing. */
const LONGEST_NEW_MS = 10_000;
/** The longest wait for git: a killed git leaves its lock file. */
const GIT_MS = 10_000;

/** A set of changed files, and the time since the last change. */
export interface PendingChange {
  readonly folder: string;
  readonly files: ReadonlySet<string>;
  readonly quietMs: number;
  /** The time since the first change. */
  readonly ageMs: number;
  /** True for a folder that is not a module yet. */
  readonly isNew: boolean;
  /** True if a module uses this file or folder. */
  readonly concerns: (path: string) => boolean;
}

/** True if the change is complete: no file waits for its content, and git has finished. */
export function isWriteSettled(change: PendingChange): boolean {
  const { folder, files, quietMs, concerns } = change;
  if (isGitAtWork(folder)) return false;
  if (change.isNew && quietMs < NEW_FOLDER_MS && change.ageMs < LONGEST_NEW_MS) return false;
  if (quietMs >= EMPTY_MS) return true;
  return [...files].every((file) => {
    const found = findStat(file);
    if (!found) return quietMs >= MISSING_MS || !concerns(file);
    return !found.isFile() || found.size > 0;
  });
}

/**
 * True during a checkout, a merge, a stash and so on in the repository that holds `folder`.
 * git holds `index.lock` from before the first file to after the last (gitrepository-layout(5)).
 */
function isGitAtWork(folder: string): boolean {
  const repository = repositoryOf(folder);
  if (repository === undefined) return false;
  const lock = findStat(join(repository, "index.lock"));
  return lock !== undefined && Date.now() - lock.mtimeMs < GIT_MS;
}

/** The folder of git's own files; in a worktree, `.git` is a file that names it. */
function repositoryOf(folder: string): string | undefined {
  for (let place = folder; ; place = dirname(place)) {
    const git = join(place, ".git");
    const found = findStat(git);
    if (found?.isDirectory() === true) return git;
    if (found) return worktreeOf(git);
    if (place === dirname(place)) return undefined;
  }
}

function worktreeOf(file: string): string | undefined {
  try {
    const [, path] = /^gitdir: (.+)$/m.exec(readFileSync(file, "utf8")) ?? [];
    return path === undefined ? undefined : resolve(dirname(file), path);
  } catch {
    return undefined; // it was just deleted
  }
}
