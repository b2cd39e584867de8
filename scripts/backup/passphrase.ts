import { createInterface } from "node:readline/promises";
import { Writable } from "node:stream";
import { text } from "node:stream/consumers";
import { MantelError } from "@mantel/plugin-sdk/errors";

const MIN_LENGTH = 12;

/**
 * The passphrase of a backup: from MANTEL_BACKUP_PASSPHRASE, asked for on a terminal without showing it,
 * or the first line of standard input.
 *
 * @throws MantelError `invalid` when it is too short to protect anything
 */
export async function readPassphrase(): Promise<string> {
  const passphrase = process.env["MANTEL_BACKUP_PASSPHRASE"] ?? (await ask());
  if (passphrase.length >= MIN_LENGTH) return passphrase;
  throw new MantelError("invalid", `a passphrase has at least ${MIN_LENGTH} characters`);
}

async function ask(): Promise<string> {
  if (!process.stdin.isTTY) return (await text(process.stdin)).split("\n")[0] ?? "";
  process.stderr.write("Passphrase: ");
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const terminal = createInterface({ input: process.stdin, output: silent, terminal: true });
  try {
    return await terminal.question("");
  } finally {
    terminal.close();
    process.stderr.write("\n");
  }
}
