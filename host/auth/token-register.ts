import { join } from "node:path";
import { Type, type Static } from "typebox";
import type { HostLog } from "../log.ts";
import { faultsOf } from "../validate.ts";
import { appendLine } from "./append-line.ts";
import { copyPathOf, restoreLines } from "./register-copy.ts";
import { ReadOnlyPaths, SCOPES } from "./scopes.ts";
import { SharedFile } from "./shared-file.ts";

/** The kinds of devices that people sign in. */
export const DEVICE_KINDS = ["phone", "tablet", "computer"] as const;
export type DeviceKind = (typeof DEVICE_KINDS)[number];

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
  /** True for the token in a browser's cookie; it is valid only there. */
  session: Type.Optional(Type.Boolean()),
  /** For a session: the `jti` of the token that opened it. */
  openedWith: Type.Optional(Type.String()),
  /** True for a token that opens one session; absent in records of version 0.1.0. */
  opensOnce: Type.Optional(Type.Boolean()),
  /** The lifetime of the session that it opens; absent means that of the token. */
  sessionSeconds: Type.Optional(Type.Integer()),
  readOnlyPaths: Type.Optional(ReadOnlyPaths),
  /** For a session: the kind of device, as its browser says. */
  device: Type.Optional(Type.Enum([...DEVICE_KINDS])),
});
/** The rights of a token from now on, instead of those that it was issued with. */
const Rights = Type.Object({
  jti: Type.String(),
  /** Counts the changes of a token. The last one holds: lines may come in any order, and clocks may go back. */
  change: Type.Integer({ minimum: 1 }),
  scope: Issued.properties.scope,
  readOnlyPaths: ReadOnlyPaths,
  changedAt: Instant,
});
const Line = Type.Union([
  Type.Object({ issued: Issued }),
  Type.Object({ rights: Rights }),
  Type.Object({ revoked: Type.Object({ jti: Type.String(), revokedAt: Instant }) }),
]);

/** The record of an issued token, with its present rights. The token itself is not stored. */
export type TokenRecord = Static<typeof Issued> & {
  readonly revokedAt: string | null;
  /** The scope in the signed token. */
  readonly issuedScope: Static<typeof Issued>["scope"];
  /** The number of the last change of its rights; absent before the first. */
  readonly change?: number;
};
export type TokenRights = Pick<Static<typeof Rights>, "scope" | "readOnlyPaths">;
export type TokenStatus = "valid" | "revoked" | "expired";

export function statusOf({ revokedAt, expiresAt }: TokenRecord): TokenStatus {
  if (revokedAt !== null) return "revoked";
  return Date.parse(expiresAt) < Date.now() ? "expired" : "valid";
}

/**
 * True if a person has signed in, in a browser or on a display. Tokens of version 0.1.0 count too: browsers kept
 * those themselves.
 */
export function hasSignedIn(records: readonly TokenRecord[]): boolean {
  return records.some(({ opensOnce }) => opensOnce !== true);
}

/** A token with all tokens it was renewed from and as; empty if no token has this `jti`. */
function renewalsOf(jti: string, records: readonly TokenRecord[]): TokenRecord[] {
  const byId = new Map(records.map((each) => [each.jti, each]));
  const firstOf = (id: string): string => {
    const { replaces } = byId.get(id) ?? {};
    return replaces !== undefined && byId.has(replaces) ? firstOf(replaces) : id;
  };
  return records.filter((each) => firstOf(each.jti) === firstOf(jti));
}

/** All tokens that end with a token: those it was renewed from and as, and the sessions opened by any of these. */
export function revokedTogether(jti: string, records: readonly TokenRecord[]): TokenRecord[] {
  const renewals = renewalsOf(jti, records);
  const ids = new Set(renewals.map((each) => each.jti));
  const isOpened = ({ openedWith = "" }: TokenRecord) => ids.has(openedWith);
  return [...renewals, ...records.filter(isOpened)];
}

export interface TokenRecords {
  /** Oldest first. */
  readonly issued: readonly TokenRecord[];
  /** The same by their `jti`. */
  readonly byId: ReadonlyMap<string, TokenRecord>;
  /** The `jti` of every revoked token, also if its own line is lost. */
  readonly revoked: ReadonlySet<string>;
}

/**
 * All issued and revoked tokens, in `<data>/tokens.jsonl` (0600). The file only grows, so
 * the host and the token command may write to it at the same time without a lock.
 */
export class TokenRegister {
  readonly #path: string;
  readonly #file: SharedFile<TokenRecords>;

  /** Lines that the file has lost are restored from its copy. */
  static async open(dataFolder: string, log: HostLog): Promise<TokenRegister> {
    const path = join(dataFolder, "tokens.jsonl");
    await restoreLines(path, (line) => parseLine(line) !== undefined, log);
    return new TokenRegister(path, log);
  }

  private constructor(path: string, log: HostLog) {
    this.#path = path;
    this.#file = new SharedFile(path, (text) => parseRecords(text, log));
  }

  /** The same object as long as nothing is issued, changed or revoked. */
  get records(): TokenRecords {
    return this.#file.value;
  }

  /** Reads changes of other processes now; `records` would show them a moment later. */
  look(): void {
    this.#file.look();
  }

  async addIssued(issued: Static<typeof Issued>): Promise<void> {
    await this.#append({ issued });
  }

  /** Changes the rights of a token; those that are absent stay. */
  async addRights(record: TokenRecord, rights: Partial<TokenRights>): Promise<void> {
    const { jti, scope, readOnlyPaths = [], change = 0 } = record;
    const changedAt = new Date().toISOString();
    const line = { jti, change: change + 1, scope, readOnlyPaths, ...rights, changedAt };
    await this.#append({ rights: line });
  }

  async addRevoked(jti: string): Promise<void> {
    await this.#append({ revoked: { jti, revokedAt: new Date().toISOString() } });
  }

  async #append(line: Static<typeof Line>): Promise<void> {
    await appendLine(this.#path, line);
    // If it fails for lack of space, the next start updates the copy.
    await appendLine(copyPathOf(this.#path), line).catch(() => undefined);
    this.#file.look();
  }
}

function parseRecords(text: string, log: HostLog): TokenRecords {
  const lines = text.split("\n").filter(Boolean).map(parseLine);
  const damaged = lines.filter((line) => line === undefined).length;
  if (damaged > 0) log.warn("the token register has damaged lines; they are skipped", { damaged });

  const revoked = new Map<string, string>();
  for (const line of lines) {
    if (line && "revoked" in line) revoked.set(line.revoked.jti, line.revoked.revokedAt);
  }
  const rights = lastRights(lines);
  const issued = lines
    .filter((line) => line !== undefined)
    .filter((line) => "issued" in line)
    .map((line) => ({
      ...line.issued,
      ...rights.get(line.issued.jti),
      issuedScope: line.issued.scope,
      revokedAt: revoked.get(line.issued.jti) ?? null,
    }));
  const byId = new Map(issued.map((record) => [record.jti, record]));
  return { issued, byId, revoked: new Set(revoked.keys()) };
}

function lastRights(
  lines: readonly (Static<typeof Line> | undefined)[],
): ReadonlyMap<string, TokenRights & { readonly change: number }> {
  const last = new Map<string, TokenRights & { readonly change: number }>();
  for (const line of lines) {
    if (!line || !("rights" in line)) continue;
    const { jti, change, scope, readOnlyPaths } = line.rights;
    if (change > (last.get(jti)?.change ?? 0)) last.set(jti, { change, scope, readOnlyPaths });
  }
  return last;
}

/** True for a line with a token record; false for one truncated by a crash. */
export const isRegisterLine = (line: string): boolean => parseLine(line) !== undefined;

function parseLine(text: string): Static<typeof Line> | undefined {
  try {
    const line: unknown = JSON.parse(text);
    return faultsOf(Line, line).length === 0 ? (line as Static<typeof Line>) : undefined;
  } catch {
    return undefined;
  }
}
