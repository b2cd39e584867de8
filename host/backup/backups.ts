import { Turns } from "@mantel/plugin-sdk/turns";
import { planReplacement } from "../documents/replacement.ts";
import { pack, unpack } from "./archive.ts";
import { assertFits, isSecret, pathsToKeep, readHome } from "./contents.ts";

/** Who may come in is decided here and now, and never by an old file: a revoked token stays revoked. */
const ADMISSION: readonly string[] = ["keys.json", "tokens.jsonl", "token-use.json"];
const NAME = "the backup";

/** Backups of the home that this host runs, made and taken while it does. */
export class Backups {
  readonly #dataFolder: string;
  readonly #version: string;
  /** Each takes memory for the whole home, and a passphrase 128 MiB. */
  readonly #turns = new Turns();

  constructor(dataFolder: string, version: string) {
    this.#dataFolder = dataFolder;
    this.#version = version;
  }

  /** One file with the home as it is now. With a passphrase it holds the secrets too, sealed by it. */
  make(passphrase: string | undefined): Promise<Buffer> {
    return this.#turns.take(async () => {
      const home = await readHome(this.#dataFolder, passphrase !== undefined);
      const madeAt = new Date().toISOString();
      return pack({ madeAt, mantel: this.#version, ...home }, passphrase);
    });
  }

  /**
   * Checks a backup whole, and has the next start put it in place. Without the passphrase the secrets
   * of this home stay; the keys and tokens of this home stay in any case.
   *
   * @throws MantelError `invalid`, in words; `disk_full`. Nothing is changed then
   */
  planRestore(
    packed: Buffer,
    passphrase: string | undefined,
  ): Promise<{ files: number; madeAt: string }> {
    return this.#turns.take(async () => {
      const backup = await unpack(packed, passphrase, NAME);
      assertFits(backup, NAME);
      const withSecrets = backup.secrets.size > 0;
      const paths = await pathsToKeep(this.#dataFolder);
      const aside = paths.filter((path) => !isAdmission(path) && (withSecrets || !isSecret(path)));
      const files = new Map(
        [...backup.files, ...backup.secrets].filter(([path]) => !isAdmission(path)),
      );
      await planReplacement(this.#dataFolder, { aside, files });
      return { files: files.size, madeAt: backup.madeAt };
    });
  }
}

function isAdmission(path: string): boolean {
  return ADMISSION.includes(path);
}
