import { readFile, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import { sweepTemporaryFiles } from "@mantel/plugin-sdk/durable-file";
import { MantelError } from "@mantel/plugin-sdk/errors";
import { MAX_PACKED_BYTES, mebibytes } from "../host/backup/limits.ts";
import { openRestore } from "../host/backup/restore.ts";
import { lockDataFolder } from "../host/data-lock.ts";
import {
  finishReplacement,
  newStagingName,
  planReplacement,
  stageReplacement,
} from "../host/documents/restore-transaction.ts";
import { openDataFolder } from "../host/folders.ts";
import { readOptions } from "./backup/options.ts";
import { readPassphrase } from "./backup/passphrase.ts";

const USAGE = `Restores a home's data from a backup. Stop Mantel first.

  npm run restore -- FILE [--secrets] [--data DIR]

  --secrets  also restore keys, tokens, passwords and plugin storage; reads the passphrase like
             \`npm run backup\`. Without it, the existing ones stay
  --data     the data folder; default: MANTEL_DATA, or ./data

The replaced files are moved into a folder before-restore-… in the data folder.
`;

async function main(): Promise<void> {
  const { file, data: folder, withSecrets } = readOptions("restore", USAGE);
  const passphrase = withSecrets ? await readPassphrase() : undefined;
  const packed = await readBackup(file);
  const credentials = withSecrets;
  const restore = await openRestore({ packed, name: basename(file), passphrase, credentials });
  const dataFolder = await openDataFolder(folder);
  const unlock = await lockDataFolder(dataFolder);
  try {
    await finishReplacement(dataFolder);
    await sweepTemporaryFiles(dataFolder);
    const staging = newStagingName();
    await stageReplacement(dataFolder, staging, await restore.replacementIn(dataFolder));
    await planReplacement(dataFolder, staging);
    const keptFolder = await finishReplacement(dataFolder);
    if (keptFolder === undefined)
      throw new Error(`${dataFolder} was changed by another program; nothing was restored`);
    const { files, madeAt, leftOut } = restore.summary;
    process.stdout.write(
      `restored ${files} files from ${madeAt}; the replaced files are in ${join(dataFolder, keptFolder)}\n`,
    );
    if (leftOut.length > 0) process.stdout.write(leftOutSentence(leftOut));
  } finally {
    await unlock();
  }
}

async function readBackup(file: string): Promise<Buffer> {
  const { size } = await stat(file);
  if (size <= MAX_PACKED_BYTES) return readFile(file);
  const detail = `it has ${mebibytes(size)}, the limit is ${mebibytes(MAX_PACKED_BYTES)}`;
  throw new MantelError("invalid", `${basename(file)} is refused: ${detail}`);
}

function leftOutSentence(leftOut: readonly string[]): string {
  return `Not restored and not changed: ${leftOut.join(", ")}. Use --secrets and the passphrase to restore them too.\n`;
}

try {
  await main();
} catch (error) {
  process.stderr.write(`restore: ${(error as Error).message}\n`);
  process.exitCode = 1;
}
