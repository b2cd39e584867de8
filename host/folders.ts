import { constants } from "node:fs";
import { access, chmod, mkdir, readdir, realpath } from "node:fs/promises";
import { resolve } from "node:path";
import { MantelError } from "@mantel/plugin-sdk/errors";

/**
 * Makes the data folder when there is none, keeps it its owner's alone, and gives its real path.
 * @throws MantelError `invalid`, with what to do, when it cannot be used
 */
export async function openDataFolder(path: string): Promise<string> {
  const folder = resolve(path);
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await access(folder, constants.R_OK | constants.W_OK | constants.X_OK);
    await chmod(folder, 0o700);
    return await realpath(folder);
  } catch (cause) {
    const detail = `the data folder ${folder} cannot be used: ${reasonOf(cause)}`;
    throw new MantelError("invalid", `${detail}; name another one with --data`, { cause });
  }
}

/** The real path of a folder with plugins. @throws MantelError `invalid`, with what to do */
export async function openPluginFolder(path: string): Promise<string> {
  const folder = resolve(path);
  try {
    await readdir(folder);
    return await realpath(folder);
  } catch (cause) {
    const detail = `the plugin folder ${folder} cannot be read: ${reasonOf(cause)}`;
    throw new MantelError("invalid", `${detail}; see --plugins`, { cause });
  }
}

const REASONS: Readonly<Record<string, string>> = {
  EACCES: "this user has no right to it",
  EPERM: "it belongs to another user",
  ENOENT: "there is none",
  EEXIST: "it is a file",
  ENOTDIR: "it is no folder, or lies in a file",
  EROFS: "the disk is read-only",
  ENOSPC: "the disk is full",
};

function reasonOf(cause: unknown): string {
  const { code = "", message } = cause as NodeJS.ErrnoException;
  return REASONS[code] ?? message;
}
