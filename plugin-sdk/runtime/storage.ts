import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Log, Storage } from "../context.ts";
import { DocumentFile } from "../document-file.ts";
import { sweepTemporaryFiles } from "../durable-file.ts";
import { MantelError } from "../errors.ts";
import { SerialQueue } from "../serial-queue.ts";
import { FileJournal } from "./storage-journal.ts";

/** While a plugin is reloaded, its previous process may still be writing to the same folder. */
const OTHERS_WRITE_MS = 60_000;

/** The reason why writes to the storage are refused now, if they are. */
let refusal: string | undefined;

/** Makes every later `set` fail with `disk_full` and this reason; `undefined` permits writes again. */
export function refuseStorage(reason: string | undefined): void {
  refusal = reason;
}

/** Creates a plugin's storage: one JSON document per key in `folder`, written durably and in order. */
export function createStorage(folder: string, log: Log): Storage {
  const queue = new SerialQueue();
  let isSwept = false;
  const open = (key: string) =>
    new DocumentFile<unknown>({
      path: fileOf(folder, key),
      parse: (value) => value,
      log,
      version: ANY_VERSION,
    });
  return {
    get: (key) => queue.take(() => open(key).load()),
    set: (key, value) =>
      queue.take(async () => {
        if (refusal !== undefined) throw new MantelError("disk_full", refusal);
        const document = open(key);
        await mkdir(folder, { recursive: true, mode: 0o700 });
        if (!isSwept) await sweepTemporaryFiles(folder, OTHERS_WRITE_MS);
        isSwept = true;
        await document.write(value ?? null);
      }),
    delete: (key) =>
      queue.take(async () => {
        const path = fileOf(folder, key);
        await rm(`${path}.last-good`, { force: true }); // first, so that it cannot restore the deleted value
        await rm(path, { force: true });
      }),
    journal: (key) =>
      FileJournal.open({ path: fileOf(folder, key, "journal"), log, refusal: () => refusal }),
  };
}

/** A `version` field in a plugin's value is not the version of a document. */
const ANY_VERSION = Number.MAX_SAFE_INTEGER;

function fileOf(folder: string, key: string, ending = "json"): string {
  if (!/^[a-z0-9-]{1,60}$/.test(key)) {
    throw new MantelError("invalid", `invalid storage key ${key}: use 1 to 60 of a-z, 0-9 and -`);
  }
  return join(folder, `${key}.${ending}`);
}
