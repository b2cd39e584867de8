import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import { writeDurably } from "@mantel/plugin-sdk/durable-file";
import { MantelError } from "@mantel/plugin-sdk/errors";
import { type FileSet, pack, unpack } from "../host/backup/archive.ts";
import { readHome } from "../host/backup/contents.ts";
import { readOptions } from "./backup/options.ts";
import { readPassphrase } from "./backup/passphrase.ts";

const USAGE = `Writes a home's data into one file, whether or not the service runs.

  npm run backup -- FILE [--secrets] [--data DIR]

  FILE       must not be there yet
  --secrets  also keys, tokens, passwords and what plugins store, encrypted with a passphrase: from
             MANTEL_BACKUP_PASSPHRASE, the terminal, or the first line of standard input
  --data     the data folder; default: MANTEL_DATA, or ./data
`;
const ROOT = resolve(import.meta.dirname, "..");

async function main(): Promise<void> {
  const { file, data, withSecrets } = readOptions("backup", USAGE);
  if (!existsSync(join(data, "layout.json"))) {
    throw new MantelError("invalid", `there is no home in ${data}; name its folder with --data`);
  }
  if (existsSync(file)) {
    throw new MantelError("invalid", `${file} is there already; name another file`);
  }
  const passphrase = withSecrets ? await readPassphrase() : undefined;
  const { files, secrets } = await readHome(data, withSecrets);
  const { version: mantel } = JSON.parse(await readFile(join(ROOT, "package.json"), "utf8")) as {
    version: string;
  };
  const madeAt = new Date().toISOString();
  await writeDurably(file, await pack({ madeAt, mantel, files, secrets }, passphrase));
  await assertWhole(file, passphrase, [files, secrets]);
  const kept = withSecrets ? `and ${secrets.size} with secrets` : "without secrets";
  process.stdout.write(`${file}: ${files.size} files ${kept}\n`);
}

/** What cannot be read back is no backup. */
async function assertWhole(
  file: string,
  passphrase: string | undefined,
  expected: readonly [files: FileSet, secrets: FileSet],
): Promise<void> {
  const { files, secrets } = await unpack(await readFile(file), passphrase, basename(file));
  const same = [files, secrets].every((set, at) =>
    [...(expected[at] ?? [])].every(([path, bytes]) => set.get(path)?.equals(bytes)),
  );
  if (!same) throw new Error(`${file} does not hold what was written to it; is the disk sound?`);
}

try {
  await main();
} catch (error) {
  process.stderr.write(`backup: ${(error as Error).message}\n`);
  process.exitCode = 1;
}
