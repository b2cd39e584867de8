import assert from "node:assert/strict";
import { cp, mkdir, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { TestContext } from "node:test";
import { pack } from "../../../host/backup/archive.ts";
import { readContents } from "../../../host/backup/contents.ts";
import { openRestore } from "../../../host/backup/restore.ts";
import {
  finishReplacement,
  newStagingName,
  planReplacement,
  stageReplacement,
} from "../../../host/documents/restore-transaction.ts";
import { emptyFolder } from "../../helpers/folder.ts";

/** The shipped layout, which each home has. */
export const LAYOUT = resolve(import.meta.dirname, "../../../layouts/default.json");

/** A document with the key that tokens are signed with. */
export const KEYS = (kid: string) => `{"keys":[{"kid":"${kid}","secret":"${"A".repeat(43)}"}]}`;

interface Options {
  readonly passphrase?: string;
  readonly credentials?: boolean;
}

/** Checks a backup, and has the next start put it in place. */
export async function plan(
  dataFolder: string,
  packed: Buffer,
  { passphrase, credentials = false }: Options = {},
) {
  const opened = await openRestore({ packed, name: "a file", passphrase, credentials });
  const staging = newStagingName();
  await stageReplacement(dataFolder, staging, await opened.replacementIn(dataFolder));
  await planReplacement(dataFolder, staging);
  return opened.summary;
}

/** Restores a backup as the host does, with its next start. */
export async function restore(dataFolder: string, packed: Buffer, options?: Options) {
  const summary = await plan(dataFolder, packed, options);
  assert.ok(await finishReplacement(dataFolder));
  return summary;
}

/** A folder with a data folder in it, and something beside that. */
export async function home(t: TestContext, files: Readonly<Record<string, string>> = {}) {
  const outside = await emptyFolder(t);
  const data = join(outside, "data");
  await mkdir(join(outside, "plugins"), { recursive: true });
  await writeFile(join(outside, "plugins/index.ts"), "code");
  await mkdir(data);
  await cp(LAYOUT, join(data, "layout.json"));
  for (const [path, text] of Object.entries(files)) {
    await mkdir(join(data, path, ".."), { recursive: true });
    await writeFile(join(data, path), text);
  }
  return { data, outside };
}

/** A backup of a data folder, without its secrets. */
export async function packedHome(data: string): Promise<Buffer> {
  const { files, secrets } = await readContents(data, false);
  return pack({ madeAt: "2026-11-20T09:00:00.000Z", mantel: "0.1.0", files, secrets });
}
