import { join } from "node:path";
import { Type, type Static } from "typebox";
import type { HostLog } from "../log.ts";
import { faultsOf } from "../validate.ts";
import { appendLine } from "./append-line.ts";
import { FollowedFile } from "./followed-file.ts";
import { copyOf, restoreLines } from "./register-copy.ts";
import { SCOPES } from "./scopes.ts";

const Instant = Type.String({ format: "date-time" });

const Issued = Type.Object({
  name: Type.String(),
  jti: Type.String(),
  /** The key it was signed with; absent in records of version 0.1.0. */
  kid: Type.Optional(Type.String()),
  scope: Type.Array(Type.Enum([...SCOPES])),
  issuedAt: Instant,
  expiresAt: Instant,
  /** True for the token of a display, which renews itself. */
  display: Type.Optional(Type.Boolean()),
  /** The `jti` of the token that ends when this one is first used. */
  replaces: Type.Optional(Type.String()),
});
const Line = Type.Union([
  Type.Object({ issued: Issued }),
  Type.Object({ revoked: Type.Object({ jti: Type.String(), revokedAt: Instant }) }),
]);

/** What is kept of a token that was issued. The token itself is not. */
export type TokenRecord = Static<typeof Issued> & { readonly revokedAt: string | null };
export type TokenStatus = "valid" | "revoked" | "expired";

export function statusOf({ revokedAt, expiresAt }: TokenRecord): TokenStatus {
  if (revokedAt !== null) return "revoked";
  return Date.parse(expiresAt) < Date.now() ? "expired" : "valid";
}

/** A token with all that it was renewed from, and renewed as; empty when none has this `jti`. */
export function renewalsOf(jti: string, records: readonly TokenRecord[]): TokenRecord[] {
  const byId = new Map(records.map((each) => [each.jti, each]));
  const firstOf = (id: string): string => {
    const { replaces } = byId.get(id) ?? {};
    return replaces !== undefined && byId.has(replaces) ? firstOf(replaces) : id;
  };
  return records.filter((each) => firstOf(each.jti) === firstOf(jti));
}

export interface TokenRecords {
  /** Oldest first. */
  readonly issued: readonly TokenRecord[];
  /** The `jti` of every revoked token, also of one whose own line is lost. */
  readonly revoked: ReadonlySet<string>;
}

/**
 * Every token that was issued or revoked, in `<data>/tokens.jsonl` (0600). The file only grows, so
 * the host and the token command may write to it at the same time without a lock.
 */
export class TokenRegister {
  readonly #path: string;
  readonly #file: FollowedFile<TokenRecords>;

  /** What the file has lost is restored from its copy. */
  static async open(dataFolder: string, log: HostLog): Promise<TokenRegister> {
    const path = join(dataFolder, "tokens.jsonl");
    await restoreLines(path, (line) => parseLine(line) !== undefined, log);
    return new TokenRegister(path, log);
  }

  private constructor(path: string, log: HostLog) {
    this.#path = path;
    this.#file = new FollowedFile(path, (text) => parseRecords(text, log));
  }

  /** The same object as long as nothing is issued or revoked. */
  get records(): TokenRecords {
    return this.#file.value;
  }

  /** Sees at once what another process has written, which `records` would see in a moment. */
  look(): void {
    this.#file.look();
  }

  async addIssued(issued: Static<typeof Issued>): Promise<void> {
    await this.#append({ issued });
  }

  async addRevoked(jti: string): Promise<void> {
    await this.#append({ revoked: { jti, revokedAt: new Date().toISOString() } });
  }

  async #append(line: Static<typeof Line>): Promise<void> {
    await appendLine(this.#path, line);
    // Without room for it, the next start brings the copy up to date.
    await appendLine(copyOf(this.#path), line).catch(() => undefined);
    this.#file.look();
  }
}

function parseRecords(text: string, log: HostLog): TokenRecords {
  const lines = text.split("\n").filter(Boolean).map(parseLine);
  const damaged = lines.filter((line) => line === undefined).length;
  if (damaged > 0) log.warn("lines of the token register are damaged and left out", { damaged });

  const revoked = new Map<string, string>();
  for (const line of lines) {
    if (line && "revoked" in line) revoked.set(line.revoked.jti, line.revoked.revokedAt);
  }
  const issued = lines
    .filter((line) => line !== undefined)
    .filter((line) => "issued" in line)
    .map((line) => ({ ...line.issued, revokedAt: revoked.get(line.issued.jti) ?? null }));
  return { issued, revoked: new Set(revoked.keys()) };
}

function parseLine(text: string): Static<typeof Line> | undefined {
  try {
    const line: unknown = JSON.parse(text);
    return faultsOf(Line, line).length === 0 ? (line as Static<typeof Line>) : undefined;
  } catch {
    return undefined;
  }
}
