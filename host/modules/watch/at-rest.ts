import { readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { statOf } from "../../stat-of.ts";

/** How long a file that is in use may be missing: editors move it away before they write it anew. */
const MISSING_MS = 50;
/** How long a file may be empty: editors truncate it before they write. */
const EMPTY_MS = 200;
/** A git that was ended leaves its lock behind; one that works for longer than this is not waited for. */
const GIT_MS = 10_000;

/** What changed, and for how long nothing more has. */
export interface Unrest {
  readonly folder: string;
  readonly files: ReadonlySet<string>;
  readonly quietMs: number;
  /** Whether a module has a use for this file or folder. */
  readonly concerns: (path: string) => boolean;
}

/** Whether what was changed is complete: no file waits for its content, and git has put all in place. */
export function isAtRest({ folder, files, quietMs, concerns }: Unrest): boolean {
  if (isGitAtWork(folder)) return false;
  if (quietMs >= EMPTY_MS) return true;
  return [...files].every((file) => {
    const found = statOf(file);
    if (!found) return quietMs >= MISSING_MS || !concerns(file);
    return !found.isFile() || found.size > 0;
  });
}

/**
 * Whether a checkout, a merge, a stash or the like is under way in the repository that holds `folder`.
 * git holds `index.lock` from before the first file to after the last (gitrepository-layout(5)).
 */
function isGitAtWork(folder: string): boolean {
  const repository = repositoryOf(folder);
  if (repository === undefined) return false;
  const lock = statOf(join(repository, "index.lock"));
  return lock !== undefined && Date.now() - lock.mtimeMs < GIT_MS;
}

/** The folder of git's own files; in a worktree, `.git` is a file that names it. */
function repositoryOf(folder: string): string | undefined {
  for (let place = folder; ; place = dirname(place)) {
    const git = join(place, ".git");
    const found = statOf(git);
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
    return undefined; // it has just gone
  }
}
