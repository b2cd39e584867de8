import { existsSync } from "node:fs";
import { readFile, realpath } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import { writeDurably } from "@mantel/plugin-sdk/durable-file";
import { MantelError } from "@mantel/plugin-sdk/errors";
import { type FileSet, pack, unpack } from "../host/backup/archive.ts";
import { readContents } from "../host/backup/contents.ts";
import { printableName } from "../host/file-names.ts";
import { readOptions } from "./backup/options.ts";
import { readPassphrase } from "./backup/passphrase.ts";

const USAGE = `Writes a home's data into one file. Mantel may be running.

  npm run backup -- FILE [--secrets] [--data DIR]

  FILE       the new file; it must not exist
  --secrets  include keys, tokens, passwords and plugin storage, encrypted with a passphrase from
             MANTEL_BACKUP_PASSPHRASE, the terminal, or the first line of standard input
  --data     the data folder; default: MANTEL_DATA, or ./data
`;
const ROOT = resolve(import.meta.dirname, "..");

async function main(): Promise<void> {
  const { file, data, withSecrets } = readOptions("backup", USAGE);
  if (!existsSync(join(data, "layout.json"))) {
    throw new MantelError("invalid", `no Mantel data in ${data}; pass the data folder with --data`);
  }
  if (existsSync(file)) {
    throw new MantelError("invalid", `${file} already exists; choose another file`);
  }
  const passphrase = withSecrets ? await readPassphrase() : undefined;
  const { files, secrets, leftOut } = await readContents(await realpath(data), withSecrets);
  const { version: mantel } = JSON.parse(await readFile(join(ROOT, "package.json"), "utf8")) as {
    version: string;
  };
  const madeAt = new Date().toISOString();
  await writeDurably(file, await pack({ madeAt, mantel, files, secrets }, passphrase));
  await assertComplete(file, passphrase, [files, secrets]);
  const secretsNote = withSecrets ? `and ${secrets.size} with secrets` : "without secrets";
  process.stdout.write(`${file}: ${files.size} files ${secretsNote}\n`);
  for (const path of leftOut) {
    process.stderr.write(
      `backup: skipped a file with an unsupported name; rename it: ${printableName(path)}\n`,
    );
  }
}

/** Verifies the backup by reading it back. */
async function assertComplete(
  file: string,
  passphrase: string | undefined,
  expected: readonly [files: FileSet, secrets: FileSet],
): Promise<void> {
  const { files, secrets } = await unpack(await readFile(file), passphrase, basename(file));
  const same = [files, secrets].every((set, at) =>
    [...(expected[at] ?? [])].every(([path, bytes]) => set.get(path)?.equals(bytes)),
  );
  if (!same) throw new Error(`${file} differs from the written data; the disk may be failing`);
}

try {
  await main();
} catch (error) {
  process.stderr.write(`backup: ${(error as Error).message}\n`);
  process.exitCode = 1;
}
