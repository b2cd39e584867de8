import { type FSWatcher, watch, type WatchListener } from "node:fs";
import { basename, dirname, resolve } from "node:path";
import type { HostLog } from "../log.ts";

const SETTLE_MS = 20;

/**
 * Calls `changed` after a file was written or replaced, once for several writes at a time. Returns a function that stops
 * watching.
 *
 * It watches the folder, because editors save by renaming another file over it, and the file itself, because a file that
 * is mounted into a container is written outside this folder.
 */
export function watchFile(file: string, changed: () => void, log: HostLog): () => void {
  const name = basename(file);
  let settling: NodeJS.Timeout | undefined;
  const settle = () => {
    clearTimeout(settling);
    settling = setTimeout(changed, SETTLE_MS);
  };
  let ofFile = watchOne(file, settle);
  const follow = () => {
    ofFile?.close();
    ofFile = watchOne(file, settle);
  };
  const ofFolder = watchOne(
    resolve(dirname(file)),
    (event, touched) => {
      if (touched !== null && touched !== name) return; // not every system names the file
      if (event === "rename") follow();
      settle();
    },
    (error) => log.warn("cannot watch a file", { file, error }),
  );
  return () => {
    clearTimeout(settling);
    ofFile?.close();
    ofFolder?.close();
  };
}

/** Watches a file or a folder; `undefined` if it does not exist, or cannot be watched. */
function watchOne(
  path: string,
  changed: WatchListener<string>,
  failed: (error: unknown) => void = () => undefined,
): FSWatcher | undefined {
  try {
    return watch(path, changed).on("error", failed);
  } catch (error) {
    failed(error);
    return undefined;
  }
}
