import { join } from "node:path";
import { DocumentFile } from "@mantel/plugin-sdk/document-file";
import { type Static, Type } from "typebox";
import type { HostLog } from "../log.ts";
import { check } from "../validate.ts";

const NAME = "token-use.json";
/** The disk may be an SD card: one small write per hour, and one when the host stops. */
const WRITE_EVERY_MS = 60 * 60 * 1000;

export const UsesFile = Type.Object({
  version: Type.Literal(1),
  /** The last use of each token by its `jti`, RFC 3339. */
  uses: Type.Record(Type.String(), Type.String({ format: "date-time" })),
});
type UsesFile = Static<typeof UsesFile>;
/** Version 0 contained only the uses. */
export const USES_MIGRATIONS = { 0: (uses: unknown) => ({ version: 1, uses }) };

/**
 * The last use of each token, in `<data>/token-use.json` (0600). A power failure loses at most an hour;
 * the times only show which tokens are no longer needed.
 */
export class LastUse {
  readonly #file: DocumentFile<UsesFile>;
  readonly #log: HostLog;
  /** Epoch milliseconds by `jti`. */
  readonly #uses: Map<string, number>;
  #writing: NodeJS.Timeout | undefined;

  private constructor(file: DocumentFile<UsesFile>, uses: Map<string, number>, log: HostLog) {
    this.#file = file;
    this.#uses = uses;
    this.#log = log;
  }

  static async open(dataFolder: string, log: HostLog): Promise<LastUse> {
    const file = new DocumentFile({
      path: join(dataFolder, NAME),
      parse: (value) => check(UsesFile, value, NAME),
      log,
      version: 1,
      migrations: USES_MIGRATIONS,
    });
    const uses = (await file.load())?.uses ?? {};
    const entries = Object.entries(uses).map(([jti, at]) => [jti, Date.parse(at)] as const);
    return new LastUse(file, new Map(entries), log);
  }

  /** Records a use of the token now. */
  note(jti: string): void {
    this.#uses.set(jti, Date.now());
    this.#writing ??= setTimeout(() => void this.#write(), WRITE_EVERY_MS).unref();
  }

  /** RFC 3339; `null` for an unused token. */
  at(jti: string): string | null {
    const at = this.#uses.get(jti);
    return at === undefined ? null : toInstant(at);
  }

  /** Writes the remaining uses. */
  async close(): Promise<void> {
    if (this.#writing) await this.#write();
  }

  async #write(): Promise<void> {
    clearTimeout(this.#writing);
    this.#writing = undefined;
    const uses = Object.fromEntries([...this.#uses].map(([jti, at]) => [jti, toInstant(at)]));
    try {
      await this.#file.write({ version: 1, uses });
    } catch (error) {
      this.#log.warn("could not store the last uses of tokens", { file: NAME, error });
    }
  }
}

const toInstant = (at: number) => new Date(at).toISOString();
