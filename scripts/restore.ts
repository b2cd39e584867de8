import { readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { sweepTemporaryFiles } from "@mantel/plugin-sdk/durable-file";
import { MantelError } from "@mantel/plugin-sdk/errors";
import { type FileSet, unpack } from "../host/backup/archive.ts";
import { assertFits, isSecret, pathsToKeep } from "../host/backup/contents.ts";
import { lockDataFolder } from "../host/data-lock.ts";
import { finishReplacement, replaceFiles } from "../host/documents/replacement.ts";
import { openDataFolder } from "../host/folders.ts";
import { readOptions } from "./backup/options.ts";
import { readPassphrase } from "./backup/passphrase.ts";

const USAGE = `Puts a home's data back from a backup. The service must not run.

  npm run restore -- FILE [--secrets] [--data DIR]

  --secrets  also keys, tokens, passwords and what plugins store; asks for the passphrase as
             \`npm run backup\` does. Without it, those that are there stay
  --data     the data folder; default: MANTEL_DATA, or ./data

What was there is moved into a folder before-restore-… in the data folder.
`;
const REGISTER = "tokens.jsonl";

async function main(): Promise<void> {
  const { file, data: folder, withSecrets } = readOptions("restore", USAGE);
  const passphrase = withSecrets ? await readPassphrase() : undefined;
  const backup = await unpack(await readFile(file), passphrase, basename(file));
  assertFits(backup, file);
  if (withSecrets && backup.secrets.size === 0) {
    throw new MantelError("invalid", `${file} has no secrets; leave out --secrets`);
  }
  const data = await openDataFolder(folder);
  const unlock = await lockDataFolder(data);
  try {
    await finishReplacement(data);
    await sweepTemporaryFiles(data);
    const aside = (await pathsToKeep(data)).filter((path) => withSecrets || !isSecret(path));
    const files = new Map([...backup.files, ...(await withLaterTokens(data, backup.secrets))]);
    const kept = await replaceFiles(data, { aside, files });
    process.stdout.write(
      `${files.size} files of ${backup.madeAt} are in place; what was there is in ${join(data, kept)}\n`,
    );
  } finally {
    await unlock();
  }
}

/** Tokens that were revoked since the backup stay revoked: the records of both are kept. */
async function withLaterTokens(data: string, secrets: FileSet): Promise<FileSet> {
  const backedUp = secrets.get(REGISTER);
  if (!backedUp) return secrets;
  const present = await readFile(join(data, REGISTER)).catch(() => Buffer.alloc(0));
  const lines = `${backedUp.toString()}\n${present.toString()}`.split("\n").filter(Boolean);
  const text = [...new Set(lines)].map((line) => `${line}\n`).join("");
  return new Map([...secrets, [REGISTER, Buffer.from(text)]]);
}

try {
  await main();
} catch (error) {
  process.stderr.write(`restore: ${(error as Error).message}\n`);
  process.exitCode = 1;
}
