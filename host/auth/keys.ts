import { createSecretKey, type KeyObject, randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { link, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { DocumentFile } from "@mantel/plugin-sdk/document-file";
import { writeDurably } from "@mantel/plugin-sdk/durable-file";
import { Type, type Static } from "typebox";
import type { HostLog } from "../log.ts";
import { check } from "../validate.ts";
import { withFileLock } from "./file-lock.ts";
import { SharedFile } from "./shared-file.ts";

const NAME = "keys.json";
const LOCK = ".keys.lock";
const KEY_BYTES = 32;

export const KeyFile = Type.Object({
  /** The first one signs; all of them verify. */
  keys: Type.Array(
    Type.Object({
      kid: Type.String({ minLength: 1 }),
      /** 32 random bytes, base64url. */
      secret: Type.String({ pattern: "^[A-Za-z0-9_-]{43}$" }),
    }),
    { minItems: 1 },
  ),
});
type KeyFile = Static<typeof KeyFile>;

/** The secret keys that sign tokens, by `kid`; the first one signs. */
export type KeyRing = ReadonlyMap<string, KeyObject>;

/**
 * The signing keys in `<data>/keys.json` (0600), created at first use. Removing a key from the file invalidates
 * the tokens signed with it, also in a running host.
 */
export class Keys {
  readonly #lock: string;
  readonly #document: DocumentFile<KeyFile>;
  readonly #file: SharedFile<KeyRing>;

  private constructor(path: string, document: DocumentFile<KeyFile>) {
    this.#lock = join(dirname(path), LOCK);
    this.#document = document;
    this.#file = new SharedFile(path, parseKeys);
  }

  /**
   * A damaged file is set aside and restored. If there is nothing to restore it from, new keys invalidate
   * all tokens; the log reports that.
   */
  static async open(dataFolder: string, log: HostLog): Promise<Keys> {
    const path = join(dataFolder, NAME);
    const isFirst = !existsSync(path);
    const parse = (value: unknown) => check(KeyFile, value, NAME);
    const document = new DocumentFile({ path, parse, log });
    if ((await document.load()) === undefined) {
      await createKeys(path);
      await document.load();
      if (!isFirst) log.error("the signing keys were lost and replaced; all tokens are invalid");
    }
    return new Keys(path, document);
  }

  /** The same object as long as the keys are unchanged. */
  get ring(): KeyRing {
    return this.#file.value;
  }

  /**
   * Runs work during which no process changes the keys, such as signing a token and
   * recording it: a rotation in between would delete a key that seems unused.
   *
   * @throws MantelError `disk_full`, `disk_read_only`; the work has not run then
   */
  hold<T>(work: () => Promise<T>): Promise<T> {
    return withFileLock(this.#lock, () => {
      this.#file.look();
      return work();
    });
  }

  /**
   * Signs with a new key from now on. Previous keys whose `kid` is in `kept` continue to verify;
   * the others are deleted, and their number is returned. Call it within `hold`.
   */
  async rotate(keptIds: ReadonlySet<string>): Promise<number> {
    const before = [...this.#file.value];
    const older = before
      .filter(([kid]) => keptIds.has(kid))
      .map(([kid, key]) => ({ kid, secret: key.export().toString("base64url") }));
    await this.#document.write({ keys: [createKey(), ...older] });
    this.#file.look();
    return before.length - older.length;
  }
}

/** Creates the file unless it exists, atomically by a link. */
async function createKeys(path: string): Promise<void> {
  const draft = join(dirname(path), `.${NAME}.${randomBytes(6).toString("hex")}.tmp`);
  await writeDurably(draft, JSON.stringify({ keys: [createKey()] }));
  try {
    await link(draft, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  } finally {
    await rm(draft);
  }
}

function createKey(): KeyFile["keys"][number] {
  return {
    kid: randomBytes(6).toString("base64url"),
    secret: randomBytes(KEY_BYTES).toString("base64url"),
  };
}

function parseKeys(text: string): KeyRing {
  const { keys } = check(KeyFile, JSON.parse(text), NAME);
  return new Map(
    keys.map(({ kid, secret }) => [kid, createSecretKey(Buffer.from(secret, "base64url"))]),
  );
}
