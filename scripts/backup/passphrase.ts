import { createInterface } from "node:readline/promises";
import { Writable } from "node:stream";
import { text } from "node:stream/consumers";
import { MantelError } from "@mantel/plugin-sdk/errors";

const MIN_LENGTH = 12;

/**
 * Reads the passphrase of a backup: from MANTEL_BACKUP_PASSPHRASE, from a hidden prompt on a terminal, or from the
 * first line of standard input.
 *
 * @throws MantelError `invalid` if it is too short
 */
export async function readPassphrase(): Promise<string> {
  const passphrase = process.env["MANTEL_BACKUP_PASSPHRASE"] ?? (await ask());
  if (passphrase.length >= MIN_LENGTH) return passphrase;
  throw new MantelError("invalid", `the passphrase must have at least ${MIN_LENGTH} characters`);
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
