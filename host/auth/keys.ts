import { createSecretKey, type KeyObject, randomBytes } from "node:crypto";
import { link, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { writeDurably } from "@mantel/plugin-sdk/durable-file";
import { MantelError } from "@mantel/plugin-sdk/errors";
import { Type, type Static } from "typebox";
import { writeFully } from "../documents/document-file.ts";
import type { HostLog } from "../log.ts";
import { check } from "../validate.ts";
import { FollowedFile } from "./followed-file.ts";

const KEY_BYTES = 32;

const KeyFile = Type.Object({
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

/** The secret keys that tokens are signed with, by `kid`; the first one signs. */
export type KeyRing = ReadonlyMap<string, KeyObject>;

/**
 * The signing keys in `<data>/keys.json` (0600), made at first use. Removing a key from the file voids
 * the tokens it has signed, also in a host that runs.
 */
export class Keys {
  readonly #path: string;
  readonly #file: FollowedFile<KeyRing>;

  private constructor(path: string) {
    this.#path = path;
    this.#file = new FollowedFile(path, parseKeys);
  }

  /**
   * A damaged file is set aside and replaced, which voids all tokens; the log says so.
   * @throws MantelError `invalid` when the file cannot be read at all
   */
  static async open(dataFolder: string, log: HostLog): Promise<Keys> {
    const path = join(dataFolder, "keys.json");
    await createKeys(path);
    try {
      return new Keys(path);
    } catch (error) {
      refuseUnreadable(path, error);
      const damaged = `${path}.damaged-${Date.now()}`;
      await rename(path, damaged);
      await createKeys(path);
      log.error("the signing keys were damaged and are replaced; make new tokens, all are void", {
        damaged,
        error,
      });
      return new Keys(path);
    }
  }

  /** The same object as long as the keys are the same. */
  get ring(): KeyRing {
    return this.#file.value;
  }

  /**
   * Signs with a fresh key from now on. Of the keys before, those whose `kid` is in `kept` go on
   * verifying; gives how many went.
   */
  async rotate(kept: ReadonlySet<string>): Promise<number> {
    this.#file.look();
    const before = [...this.#file.value];
    const older = before
      .filter(([kid]) => kept.has(kid))
      .map(([kid, key]) => ({ kid, secret: key.export().toString("base64url") }));
    await writeFully(this.#path, serialize({ keys: [createKey(), ...older] }));
    this.#file.look();
    return before.length - older.length;
  }
}

/** Makes the file unless it exists. A link appears whole or not at all, whoever else is at it. */
async function createKeys(path: string): Promise<void> {
  if (await stat(path).catch(() => undefined)) return;
  const draft = `${path}.${randomBytes(6).toString("hex")}`;
  await writeDurably(draft, serialize({ keys: [createKey()] }));
  try {
    await link(draft, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  } finally {
    await rm(draft);
  }
}

/** Keys that are whole, and only cannot be reached now, are not to be replaced. */
function refuseUnreadable(path: string, cause: unknown): void {
  const { code, syscall } = cause as NodeJS.ErrnoException;
  if (syscall === undefined) return;
  const detail = `${path} cannot be read (${code}); give the user who runs Mantel access to it`;
  throw new MantelError("invalid", detail, { cause });
}

function createKey(): KeyFile["keys"][number] {
  return {
    kid: randomBytes(6).toString("base64url"),
    secret: randomBytes(KEY_BYTES).toString("base64url"),
  };
}

function serialize(file: KeyFile): string {
  return `${JSON.stringify(file, null, 2)}\n`;
}

function parseKeys(text: string): KeyRing {
  const { keys } = check(KeyFile, JSON.parse(text), "keys.json");
  return new Map(
    keys.map(({ kid, secret }) => [kid, createSecretKey(Buffer.from(secret, "base64url"))]),
  );
}
