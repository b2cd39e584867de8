import { MantelError } from "@mantel/plugin-sdk/errors";
import { isRegisterLine } from "../auth/token-register.ts";
import type { RestoreTransaction } from "../documents/restore-transaction.ts";
import { type Unpacked, unpack } from "./archive.ts";
import { pathsToBackUp } from "./contents.ts";
import { inCurrentNames } from "./current-names.ts";
import { assertDocuments } from "./documents.ts";
import { isCredential, isSecret } from "./paths.ts";

const REGISTER = "tokens.jsonl";

export interface RestoreRequest {
  readonly packed: Buffer;
  /** Names the backup in messages. */
  readonly name: string;
  /** Opens the secrets, which are left out without it. */
  readonly passphrase?: string | undefined;
  /** True to restore the backup's credentials: tokens, keys and the permissions of plugins. */
  readonly credentials: boolean;
}

/** The result of a restore, in numbers and names. */
export interface RestoreSummary {
  readonly files: number;
  readonly madeAt: string;
  /** True if the credentials of the backup were requested. */
  readonly credentials: boolean;
  /** Files of the backup that are not restored; a sealed part that was not opened is `secrets`. */
  readonly leftOut: readonly string[];
}

/** A completely checked backup. */
export interface Restore {
  readonly summary: RestoreSummary;
  /** The changes that a restore makes in a data folder. Nothing is written. */
  readonly replacementIn: (dataFolder: string) => Promise<RestoreTransaction>;
}

/**
 * Checks a backup completely, including its documents.
 * @throws MantelError `invalid`, with the reason
 */
export async function openRestore(request: RestoreRequest): Promise<Restore> {
  const { packed, name, passphrase, credentials } = request;
  const backup = await unpack(packed, passphrase, name);
  assertFits(backup, request);
  const withSecrets = passphrase !== undefined && backup.isSealed;
  const isTaken = (path: string) => credentials || !isCredential(path);
  const isReplaced = (path: string) => isTaken(path) && (withSecrets || !isSecret(path));

  const all = [...backup.files.keys(), ...backup.secrets.keys()];
  // Credentials in the open part, as of version 1, are not authenticated.
  const open = [...backup.files].filter(([path]) => !isCredential(path)).map(inCurrentNames);
  const sealed = [...backup.secrets].filter(([path]) => isTaken(path)).map(onlyWholeLines);
  const files = new Map([...open, ...sealed]);
  const leftOut = all.filter((path) => !files.has(path));
  if (backup.isSealed && !withSecrets) leftOut.push("secrets");
  return {
    summary: { files: files.size, madeAt: backup.madeAt, credentials, leftOut },
    async replacementIn(dataFolder) {
      const present = await pathsToBackUp(dataFolder, withSecrets);
      const united = files.has(REGISTER) ? [REGISTER] : [];
      return { aside: present.filter(isReplaced), files, united };
    },
  };
}

/** @throws MantelError `invalid` for a backup without a home, or one this Mantel cannot read */
function assertFits(backup: Unpacked, { name, passphrase, credentials }: RestoreRequest): void {
  const { files, secrets, mantel, isSealed } = backup;
  if (!files.has("layout.json")) throw new MantelError("invalid", `${name} contains no home`);
  if (credentials && passphrase === undefined) {
    const detail = "keys and tokens are restored only with the passphrase of the backup";
    throw new MantelError("invalid", detail);
  }
  if (credentials && !isSealed) {
    throw new MantelError("invalid", `${name} has no secrets, and so no keys and tokens`);
  }
  try {
    assertDocuments(new Map<string, Buffer>([...files, ...secrets]));
  } catch (cause) {
    if (!(cause instanceof MantelError)) throw cause;
    throw new MantelError("invalid", `${name}, of Mantel ${mantel}: ${cause.message}`, { cause });
  }
}

/** Drops a truncated line of the register, which would merge with the next one added. */
function onlyWholeLines([path, bytes]: readonly [string, Buffer]): [string, Buffer] {
  if (path !== REGISTER) return [path, bytes];
  const lines = bytes.toString().split("\n").filter(isRegisterLine);
  return [path, Buffer.from(lines.map((line) => `${line}\n`).join(""))];
}
