import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Log, Storage } from "../context.ts";
import { DocumentFile } from "../document-file.ts";
import { sweepTemporaryFiles } from "../durable-file.ts";
import { MantelError } from "../errors.ts";
import { Turns } from "../turns.ts";

/** The storage of one plugin: a JSON document for each key in `folder`, written durably and in order. */
export function createStorage(folder: string, log: Log): Storage {
  const turns = new Turns();
  let isSwept = false;
  const open = (key: string) =>
    new DocumentFile<unknown>({
      path: fileOf(folder, key),
      parse: (value) => value,
      log,
      version: ANY_VERSION,
    });
  return {
    get: (key) => turns.take(() => open(key).load()),
    set: (key, value) =>
      turns.take(async () => {
        const document = open(key);
        await mkdir(folder, { recursive: true, mode: 0o700 });
        if (!isSwept) await sweepTemporaryFiles(folder);
        isSwept = true;
        await document.write(value ?? null);
      }),
    delete: (key) =>
      turns.take(async () => {
        const path = fileOf(folder, key);
        await rm(`${path}.last-good`, { force: true }); // first: it must not bring back what is deleted
        await rm(path, { force: true });
      }),
  };
}

/** What a `version` in a value means is its plugin's business. */
const ANY_VERSION = Number.MAX_SAFE_INTEGER;

function fileOf(folder: string, key: string): string {
  if (!/^[a-z0-9-]{1,60}$/.test(key)) {
    throw new MantelError("invalid", `a storage key is 1 to 60 of a-z, 0-9 and -, not ${key}`);
  }
  return join(folder, `${key}.json`);
}
