import { once } from "node:events";
import { basename, dirname, resolve } from "node:path";
import { watch } from "chokidar";
import type { HostLog } from "../log.ts";

const SETTLE_MS = 20;

/**
 * Calls `changed` after a file was written or replaced, once for several writes at a time; resolves
 * when it watches. Returns a function that stops watching.
 *
 * It watches the folder and not the file, because editors save by renaming another file over it.
 */
export async function watchFile(
  file: string,
  changed: () => void,
  log: HostLog,
): Promise<() => Promise<void>> {
  const folder = resolve(dirname(file));
  const name = basename(file);
  const watcher = watch(folder, {
    depth: 0,
    ignoreInitial: true,
    ignored: (path) => resolve(path) !== folder && basename(path) !== name,
  });
  let settling: NodeJS.Timeout | undefined;
  const settle = () => {
    clearTimeout(settling);
    settling = setTimeout(changed, SETTLE_MS);
  };
  watcher.on("add", settle).on("change", settle);
  watcher.on("error", (error) => log.warn("cannot watch a file", { file, error }));
  await once(watcher, "ready");
  return async () => {
    clearTimeout(settling);
    await watcher.close();
  };
}
