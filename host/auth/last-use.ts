import { join } from "node:path";
import { Type } from "typebox";
import { readText, writeFully } from "../documents/document-file.ts";
import { parseJsonText } from "../documents/json-text.ts";
import type { HostLog } from "../log.ts";
import { check } from "../validate.ts";

const NAME = "token-use.json";
/** The disk may be an SD card: one small write an hour, and one when the host stops. */
const WRITE_EVERY_MS = 60 * 60 * 1000;

/** The last use of each token by its `jti`, RFC 3339. */
const Uses = Type.Record(Type.String(), Type.String({ format: "date-time" }));

/**
 * When each token was last used, in `<data>/token-use.json` (0600). What was not written yet when the
 * power went is lost, an hour at most: this tells a person which token nobody needs any more.
 */
export class LastUse {
  readonly #path: string;
  readonly #log: HostLog;
  /** Epoch milliseconds by `jti`. */
  readonly #uses: Map<string, number>;
  #writing: NodeJS.Timeout | undefined;

  private constructor(path: string, uses: Map<string, number>, log: HostLog) {
    this.#path = path;
    this.#uses = uses;
    this.#log = log;
  }

  /** A damaged file counts as none. */
  static async open(dataFolder: string, log: HostLog): Promise<LastUse> {
    const path = join(dataFolder, NAME);
    try {
      const text = (await readText(path)) ?? "{}";
      const uses = Object.entries(check(Uses, parseJsonText(text, NAME), NAME));
      return new LastUse(path, new Map(uses.map(([jti, at]) => [jti, Date.parse(at)])), log);
    } catch (error) {
      log.warn("the last uses of tokens cannot be read and begin anew", { path, error });
      return new LastUse(path, new Map(), log);
    }
  }

  /** The token is in use now. */
  note(jti: string): void {
    this.#uses.set(jti, Date.now());
    this.#writing ??= setTimeout(() => void this.#write(), WRITE_EVERY_MS).unref();
  }

  /** RFC 3339; `null` for a token that was not used. */
  at(jti: string): string | null {
    const at = this.#uses.get(jti);
    return at === undefined ? null : new Date(at).toISOString();
  }

  /** Writes what is not written yet. */
  async close(): Promise<void> {
    if (this.#writing) await this.#write();
  }

  async #write(): Promise<void> {
    clearTimeout(this.#writing);
    this.#writing = undefined;
    const uses = [...this.#uses.keys()].map((jti) => [jti, this.at(jti)]);
    try {
      await writeFully(this.#path, `${JSON.stringify(Object.fromEntries(uses))}\n`);
    } catch (error) {
      this.#log.warn("the last uses of tokens were not written", { path: this.#path, error });
    }
  }
}
