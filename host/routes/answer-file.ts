import { constants } from "node:fs";
import { type FileHandle, open, readlink, realpath } from "node:fs/promises";
import { sep } from "node:path";
import { ROUTE_LIMITS } from "@mantel/plugin-sdk/route";
import { type CheckedAnswer, WrongAnswer } from "./answer.ts";

/** An open file that a route answers with. Its receiver closes it. */
export interface AnswerFile {
  readonly handle: FileHandle;
  readonly bytes: number;
}

/** An answer whose file is open. Its receiver sends it, and so closes the file. */
export type ReadyAnswer = Omit<CheckedAnswer, "file"> & { readonly file?: AnswerFile };

/** Opens the file of an answer that has one. @throws WrongAnswer as `openAnswerFile` */
export async function readyAnswer(
  { file, ...answer }: CheckedAnswer,
  folders: readonly string[],
): Promise<ReadyAnswer> {
  return file === undefined ? answer : { ...answer, file: await openAnswerFile(file, folders) };
}

/** Without links, and without waiting for the writer of a pipe. */
const FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/**
 * Opens a file below one of these folders, which the plugin may change meanwhile.
 * @throws WrongAnswer for another file, and for one that is missing, too large or not a plain file
 */
export async function openAnswerFile(
  path: string,
  folders: readonly string[],
): Promise<AnswerFile> {
  const handle = await open(path, FLAGS).catch(() => undefined);
  if (!handle) throw refused(path, "cannot be opened");
  try {
    const opened = await handle.stat();
    const real = await placeOf(handle, path);
    const within = await Promise.all(folders.map((folder) => isWithin(folder, real)));
    if (!within.includes(true)) throw refused(path, "is not in a folder of the plugin");
    if (!opened.isFile()) throw refused(path, "is not a plain file");
    if (opened.size > ROUTE_LIMITS.mostFileBytes)
      throw refused(path, `has ${opened.size} bytes; ${ROUTE_LIMITS.mostFileBytes} are allowed`);
    return { handle, bytes: opened.size };
  } catch (error) {
    await handle.close();
    throw error instanceof WrongAnswer ? error : refused(path, "cannot be read");
  }
}

/**
 * The place of an open file. Linux tells it, whatever links led there. On other systems the plugin could exchange a
 * folder for a link between the two steps.
 */
async function placeOf({ fd }: FileHandle, path: string): Promise<string> {
  return readlink(`/proc/self/fd/${fd}`).catch(() => realpath(path));
}

async function isWithin(folder: string, real: string): Promise<boolean> {
  const realFolder = await realpath(folder).catch(() => undefined);
  return realFolder !== undefined && real.startsWith(realFolder + sep);
}

function refused(path: string, reason: string): WrongAnswer {
  return new WrongAnswer("internal", `the answer has the file ${path}, which ${reason}`);
}
