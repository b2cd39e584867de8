import { constants } from "node:fs";
import { access, chmod, mkdir, readdir, realpath } from "node:fs/promises";
import { resolve } from "node:path";
import { MantelError } from "@mantel/plugin-sdk/errors";

/**
 * Creates the data folder if it does not exist, makes it private to its owner, and returns its real path.
 * @throws MantelError `invalid`, with the fix, if it cannot be used
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
    throw new MantelError("invalid", `${detail}; choose another one with --data`, { cause });
  }
}

/** The real path of a folder with plugins. @throws MantelError `invalid`, with the fix */
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
  EACCES: "permission denied for this user",
  EPERM: "it belongs to another user",
  ENOENT: "it does not exist",
  EEXIST: "it is a file",
  ENOTDIR: "it is not a folder, or its parent is a file",
  EROFS: "the disk is read-only",
  ENOSPC: "the disk is full",
};

function reasonOf(cause: unknown): string {
  const { code = "", message } = cause as NodeJS.ErrnoException;
  return REASONS[code] ?? message;
}
