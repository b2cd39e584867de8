import { rm } from "node:fs/promises";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { DocumentFile, readText, writeFully } from "@mantel/plugin-sdk/document-file";
import { MantelError } from "@mantel/plugin-sdk/errors";
import { parseJsonText } from "@mantel/plugin-sdk/json-text";
import type { HostLog } from "../log.ts";
import { type ConfigDocument, parseDocument, valueAt, withValue } from "./document.ts";
import { moveCredentialsFromUrl } from "./environment.ts";
import type { KeyTable } from "./keys.ts";
import { withPasswordHashes } from "./password-hashes.ts";
import { type Change, mergePatch } from "./patch.ts";
import type { StoredValues } from "./values.ts";

const PENDING = "config.pending.json";

/**
 * `config.json`, which users may edit, and `secrets.json` beside it. A change of both is written
 * to a third file first, so that a start after a crash finds either none of it or all.
 */
export class ConfigFiles {
  readonly #keys: KeyTable;
  readonly #plain: DocumentFile<ConfigDocument>;
  readonly #secret: DocumentFile<ConfigDocument>;
  readonly #pending: string;
  readonly #log: HostLog;
  #stored: StoredValues = { plain: {}, secret: {} };

  constructor(dataFolder: string, keys: KeyTable, log: HostLog) {
    const file = (name: string) =>
      new DocumentFile({ path: join(dataFolder, name), parse: this.#parse, log });
    this.#keys = keys;
    this.#plain = file("config.json");
    this.#secret = file("secrets.json");
    this.#pending = join(dataFolder, PENDING);
    this.#log = log;
  }

  /** The valid content of the files. */
  get stored(): StoredValues {
    return this.#stored;
  }

  /** Reads both files; a damaged one is set aside and its last good copy is used. */
  async load(): Promise<void> {
    await this.#finishPending();
    this.#stored = {
      plain: (await this.#plain.load()) ?? {},
      secret: (await this.#secret.load()) ?? {},
    };
    await this.separate();
  }

  /** Applies a user's edit of `config.json`. Errors are logged and the file is left alone. */
  async reread(): Promise<void> {
    try {
      if (!(await this.#plain.isEdited())) return;
      this.#stored = { ...this.#stored, plain: (await this.#plain.read()) ?? {} };
      this.#log.info("the edited config was applied");
      await this.separate();
    } catch (error) {
      const expected = error instanceof MantelError;
      const why = expected ? { reason: error.message, faults: error.extras.errors } : { error };
      this.#log.error("invalid edit of the config; keeping the previous configuration", why);
    }
  }

  /**
   * Stores changes, all or none; passwords that are only compared become hashes.
   * @throws MantelError `disk_full`, `invalid`
   */
  async change(changes: readonly Change[]): Promise<void> {
    const hashed: Change[] = [];
    for (const [key, value] of changes) {
      hashed.push([key, key.secret ? await withPasswordHashes(key.schema, value) : value]);
    }
    await this.#save(applyChanges(this.#stored, hashed));
  }

  /**
   * Moves secrets that a user has written into `config.json` to `secrets.json`. They are merged into the stored ones,
   * because users who write one part cannot see the others. True if there were any.
   */
  async separate(): Promise<boolean> {
    const found: Change[] = [];
    for (const [section, entries] of Object.entries(this.#stored.plain)) {
      for (const [name, value] of Object.entries(entries)) {
        const key = this.#keys.find(section, name);
        if (key?.secret) found.push([key, mergePatch(valueAt(this.#stored.secret, key), value)]);
      }
    }
    if (found.length === 0) return false;
    await this.change(found);
    const keys = found.map(([{ dotted }]) => dotted);
    this.#log.info("moved secrets out of the config file", { keys });
    return true;
  }

  readonly #parse = (value: unknown): ConfigDocument =>
    parseDocument(moveCredentialsFromUrl(value), this.#keys);

  async #save(next: StoredValues): Promise<void> {
    const plainDiffers = !isDeepStrictEqual(next.plain, this.#stored.plain);
    const secretDiffers = !isDeepStrictEqual(next.secret, this.#stored.secret);
    if (plainDiffers && secretDiffers) await this.#saveBoth(next);
    else if (plainDiffers) await this.#writePlain(next.plain);
    else if (secretDiffers) await this.#secret.write(next.secret);
    this.#stored = next;
  }

  async #saveBoth(next: StoredValues): Promise<void> {
    await writeFully(this.#pending, JSON.stringify(next));
    try {
      await this.#secret.write(next.secret);
      await this.#writePlain(next.plain);
    } catch (error) {
      await rm(this.#pending, { force: true });
      await this.#secret.write(this.#stored.secret);
      throw error;
    }
    await rm(this.#pending, { force: true });
  }

  /** Completes a change of both files that a crash has interrupted. */
  async #finishPending(): Promise<void> {
    try {
      const text = await readText(this.#pending);
      if (text === undefined) return;
      const { plain, secret } = (parseJsonText(text, PENDING) ?? {}) as Partial<StoredValues>;
      const next = { plain: this.#parse(plain), secret: this.#parse(secret) };
      await this.#secret.write(next.secret);
      await this.#plain.write(next.plain);
    } catch (error) {
      if (!(error instanceof MantelError) || error.code !== "invalid") throw error;
      this.#log.error("cannot read a change that a crash has interrupted", { error });
    }
    await rm(this.#pending, { force: true, recursive: true });
  }

  /** Writes `config.json`. An invalid edit, which was not applied, is set aside for its author. */
  async #writePlain(document: ConfigDocument): Promise<void> {
    if (await this.#plain.isEdited()) {
      const keptAs = await this.#plain.setAside();
      this.#log.warn("set aside an invalid edit of the config", { keptAs });
    }
    await this.#plain.write(document);
  }
}

/** The stored values after changes; secrets are stored separately. */
export function applyChanges(
  { plain, secret }: StoredValues,
  changes: readonly Change[],
): StoredValues {
  for (const [key, value] of changes) {
    plain = withValue(plain, key, key.secret ? undefined : value);
    secret = withValue(secret, key, key.secret ? value : undefined);
  }
  return { plain, secret };
}
