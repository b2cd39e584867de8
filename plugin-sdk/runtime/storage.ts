import { mkdir, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { writeDurably } from "../durable-file.ts";
import { MantelError } from "../errors.ts";
import type { Log, Storage } from "../plugin.ts";

/** The storage of one plugin: a JSON file for each key in `folder`, written durably and in order. */
export function createStorage(folder: string, log: Log): Storage {
  let last: Promise<unknown> = Promise.resolve();
  const inOrder = <T>(work: () => Promise<T>): Promise<T> => {
    const done = last.then(work);
    last = done.catch(() => undefined); // the caller of `done` hears of it
    return done;
  };

  return {
    get: (key) =>
      inOrder(async () => {
        const path = fileOf(folder, key);
        try {
          return JSON.parse(await readFile(path, "utf8")) as unknown;
        } catch (error) {
          if (error instanceof SyntaxError) {
            await rename(path, `${path}.damaged`);
            log.warn("a stored value was damaged and is set aside", {
              key,
              file: `${path}.damaged`,
            });
            return undefined;
          }
          if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
          throw error;
        }
      }),
    set: (key, value) =>
      inOrder(async () => {
        const path = fileOf(folder, key);
        await mkdir(folder, { recursive: true, mode: 0o700 });
        await writeDurably(path, JSON.stringify(value) ?? "null");
      }),
    delete: (key) => inOrder(() => rm(fileOf(folder, key), { force: true })),
  };
}

function fileOf(folder: string, key: string): string {
  if (!/^[a-z0-9-]{1,60}$/.test(key)) {
    throw new MantelError("invalid", `a storage key is 1 to 60 of a-z, 0-9 and -, not ${key}`);
  }
  return join(folder, `${key}.json`);
}
