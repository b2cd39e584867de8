import { type KeyObject, randomUUID } from "node:crypto";
import { MantelError } from "@mantel/plugin-sdk/errors";
import type { HostLog } from "../log.ts";
import {
  keyIdOf,
  LEEWAY_SECONDS,
  readClaims,
  tokenRefused,
  signClaims,
  type TokenClaims,
  unauthorized,
} from "./claims.ts";
import { type KeyRing, Keys } from "./keys.ts";
import { restrictToOwner } from "./restrict-to-owner.ts";
import type { Scope } from "./scopes.ts";
import {
  type DeviceKind,
  revokedTogether,
  statusOf,
  type TokenRecord,
  TokenRegister,
  type TokenRecords,
  type TokenRights,
} from "./token-register.ts";
import type { TokenRequest } from "./token-request.ts";

const MAX_REMEMBERED = 1_000;
/** The part of its lifetime after which a display's token is renewed: it may be off for the rest. */
const RENEWED_AFTER = 1 / 3;
const TELL_EVERY_MS = 60_000;

/** Identifies a token. */
export interface TokenIdentity {
  /** The name the token was issued under. */
  readonly sub: string;
  readonly jti: string;
}

/** The holder of a valid token. */
export interface Principal extends TokenIdentity {
  readonly scope: readonly Scope[];
  /** Places in the API where it may only read; absent without any. */
  readonly readOnlyPaths?: readonly string[];
  /** True for a paired display. */
  readonly display?: boolean;
  /** True for the token in a browser's cookie. */
  readonly session?: boolean;
}

/** A request for a token: for a user or a program, a display, or the session of a browser. */
export interface IssueRequest extends TokenRequest {
  readonly display?: boolean;
  /** The `jti` of the token that ends when the new one is first used. */
  readonly replaces?: string;
  readonly session?: boolean;
  /** For a session: the `jti` of the token that opened it. */
  readonly openedWith?: string;
  /** The lifetime of the session that the token opens; absent means that of the token. */
  readonly sessionSeconds?: number;
  readonly readOnlyPaths?: string[];
  readonly device?: DeviceKind;
}

/** A token for a browser's cookie. */
export interface SessionToken {
  readonly token: string;
  readonly ttlSeconds: number;
}

interface Remembered {
  readonly principal: Principal;
  /** Epoch milliseconds. */
  readonly validUntil: number;
}

/**
 * Issues, verifies and revokes bearer tokens (RFC 7519). Tokens that another process issues or revokes in the
 * same data folder are known here within a fifth of a second.
 */
export class Tokens {
  readonly #keys: Keys;
  readonly #register: TokenRegister;
  /** Verified tokens by their text: a hash of each would take longer than all else. Cleared when a key or a record changes. */
  readonly #remembered = new Map<string, Remembered>();
  #seenKeys: KeyRing;
  #seenRecords: TokenRecords;
  /** By the `jti` of a token: that of the token which ends with its first use. */
  #predecessors = new Map<string, string>();
  readonly #log: HostLog;
  /** Monotonic time of the next log record. */
  #tellNextAt = 0;

  private constructor(keys: Keys, register: TokenRegister, log: HostLog) {
    this.#keys = keys;
    this.#register = register;
    this.#log = log;
    this.#seenKeys = keys.ring;
    this.#seenRecords = register.records;
    this.#predecessors = predecessorsIn(register.records);
  }

  static async open({ dataFolder, log }: { dataFolder: string; log: HostLog }): Promise<Tokens> {
    await restrictToOwner(dataFolder, log);
    const keys = await Keys.open(dataFolder, log);
    return new Tokens(keys, await TokenRegister.open(dataFolder, log), log);
  }

  /** A new token, recorded before it is returned. @throws MantelError `disk_full` */
  issue(request: IssueRequest): Promise<string> {
    return this.#keys.hold(() => this.#issue(request));
  }

  async #issue({ name, scope, ttlSeconds, ...kind }: IssueRequest): Promise<string> {
    const [signing] = this.#keys.ring;
    if (!signing) throw new Error("the key ring is empty");
    const jti = randomUUID();
    const iat = Math.floor(Date.now() / 1000);
    const exp = iat + ttlSeconds;
    const isDisplay = kind.display === true ? { display: true } : {};
    const opensOnce = kind.display || kind.session ? {} : { opensOnce: true };
    const token = signClaims({ sub: name, jti, iat, exp, scope, ...isDisplay }, signing);
    await this.#register.addIssued({
      name,
      jti,
      kid: signing[0],
      scope: [...scope],
      issuedAt: toInstant(iat),
      expiresAt: toInstant(exp),
      ...kind,
      ...opensOnce,
    });
    return token;
  }

  /**
   * Exchanges a token for one in a browser's cookie, which expires with it. A link signs in one browser. The
   * token of a display ends when the cookie is first used, so that the display keeps one token. Call `getOpener`
   * first: tokens refused there take no lock.
   *
   * @throws MantelError `unauthorized`, `link_used`, `disk_full`
   */
  async openSession(token: string, device?: DeviceKind): Promise<SessionToken> {
    return this.#keys.hold(async () => {
      this.#register.look();
      const { jti, name, display = false, ...record } = this.getOpener(token);
      const leftSeconds = Math.floor((Date.parse(record.expiresAt) - Date.now()) / 1000);
      const ttlSeconds = display
        ? lifeMsOf(record) / 1000
        : (record.sessionSeconds ?? Math.max(1, leftSeconds));
      const opener = display ? { display, replaces: jti } : { openedWith: jti };
      const kind = { ...opener, ...(device && { device }) };
      const request = { name, ...rightsOf(record), ttlSeconds, session: true, ...kind };
      return { ttlSeconds, token: await this.#issue(request) };
    });
  }

  /** The record of a token that may open a session now. @throws MantelError `unauthorized`, `link_used` */
  getOpener(token: string): TokenRecord {
    const { jti, session } = this.verify(token);
    const { byId, issued } = this.#seenRecords;
    const record = byId.get(jti);
    if (!record || session)
      throw unauthorized("the token of a session cannot open another session");
    if (record.opensOnce && issued.some(({ openedWith }) => openedWith === jti)) {
      throw new MantelError(
        "link_used",
        "the link was already used to sign in a browser; make another one with npm run token, or pair this screen by its code",
      );
    }
    return record;
  }

  /** @throws MantelError `unauthorized`, with the reason */
  verify(token: string): Principal {
    this.#forgetWhenChanged();
    const remembered = this.#remembered.get(token);
    if (remembered && Date.now() < remembered.validUntil) return remembered.principal;

    const claims = readClaims(token, this.#keyFor(token));
    const record = this.#requireRecord(claims, keyIdOf(token));
    const { sub, jti, exp, display } = claims;
    const { session } = record;
    const kind = { ...(display ? { display } : {}), ...(session ? { session } : {}) };
    const principal = Object.freeze({ sub, jti, ...rightsOf(record), ...kind });
    this.#remember(token, { principal, validUntil: (exp + LEEWAY_SECONDS) * 1000 });
    return principal;
  }

  /**
   * A valid signature is not enough: the register must contain the token as it is. Otherwise a leaked key could sign
   * tokens that nobody could list or revoke.
   */
  #requireRecord(claims: TokenClaims, kid: string | undefined): TokenRecord {
    if (!this.#seenRecords.byId.has(claims.jti)) {
      this.#register.look(); // another process may have issued it a moment ago
      this.#forgetWhenChanged();
    }
    const { byId, revoked } = this.#seenRecords;
    if (revoked.has(claims.jti)) throw tokenRefused("revoked", "the token was revoked");
    const record = byId.get(claims.jti);
    if (record && isRecordOf(record, claims, kid)) return record;
    this.#warnUnrecorded(claims);
    throw unauthorized("the token is not in the register; make a new one with the token command");
  }

  /** Logs a token that is not in the register, at most once per interval: its holder can send it repeatedly. */
  #warnUnrecorded({ sub, jti }: TokenClaims): void {
    const now = performance.now();
    if (now < this.#tellNextAt) return;
    this.#tellNextAt = now + TELL_EVERY_MS;
    this.#log.warn("refused a token with a valid signature that is not in the register", {
      name: sub,
      jti,
      fix: "if tokens.jsonl was lost, make new tokens with npm run token; otherwise the signing key has leaked: npm run token -- --rotate --drop",
    });
  }

  /**
   * The successor of a display's token, or `undefined` during the first third of its lifetime.
   * @throws MantelError `disk_full`
   */
  async renew({ sub, jti, session }: Principal): Promise<SessionToken | undefined> {
    const own = this.find(jti);
    if (!own) return undefined;
    const lifeMs = lifeMsOf(own);
    if (Date.now() - Date.parse(own.issuedAt) < lifeMs * RENEWED_AFTER) return undefined;
    const ttlSeconds = Math.round(lifeMs / 1000);
    const { device } = own;
    const kind = {
      ...{ display: true, replaces: jti },
      ...(session ? { session } : {}),
      ...(device && { device }),
    };
    return this.#keys.hold(async () => {
      this.#register.look();
      const rights = rightsOf(this.find(jti) ?? own); // They may have changed a moment ago.
      return {
        ttlSeconds,
        token: await this.#issue({ name: sub, ...rights, ttlSeconds, ...kind }),
      };
    });
  }

  /**
   * Records a use of a token, which ends the token it replaces, because it has arrived. `undefined` if it replaces none.
   * @throws MantelError `disk_full`; the next use tries again
   */
  noteUse({ jti }: Principal): Promise<void> | undefined {
    const predecessor = this.#predecessors.get(jti);
    return predecessor === undefined ? undefined : this.#endPredecessor(jti, predecessor);
  }

  async #endPredecessor(jti: string, predecessor: string): Promise<void> {
    this.#predecessors.delete(jti);
    try {
      await this.#register.addRevoked(predecessor);
    } catch (error) {
      this.#predecessors.set(jti, predecessor);
      throw error;
    }
  }

  /** The recorded token with this `jti`. */
  find(jti: string): TokenRecord | undefined {
    return this.#register.records.byId.get(jti);
  }

  /** All recorded tokens, oldest first. */
  list(): readonly TokenRecord[] {
    return this.#register.records.issued;
  }

  /**
   * Revokes all tokens of this name that are not revoked yet, and returns their number. With the `jti` of one, revokes
   * only that one, those it was renewed from or as, and the sessions they opened: two displays may have the same name.
   */
  async revoke(name: string, jti?: string): Promise<number> {
    const named = this.list().filter((each) => each.name === name);
    const meant = jti === undefined ? named : revokedTogether(jti, named);
    const concerned = meant.filter((each) => !each.revokedAt);
    for (const token of concerned) await this.#register.addRevoked(token.jti);
    return concerned.length;
  }

  /**
   * Changes the rights of a token at once, and of those it was renewed from or as and the sessions they opened. Returns
   * the number of changed tokens.
   *
   * @throws MantelError `disk_full`
   */
  async changeRights(name: string, jti: string, rights: Partial<TokenRights>): Promise<number> {
    return this.#keys.hold(async () => {
      this.#register.look();
      const named = this.list().filter((each) => each.name === name);
      const valid = revokedTogether(jti, named).filter((each) => statusOf(each) === "valid");
      for (const token of valid) await this.#register.addRights(token, rights);
      return valid.length;
    });
  }

  /** Ends one token, but not the sessions it opened. @throws MantelError `disk_full` */
  async end({ jti }: Principal): Promise<void> {
    if (!this.#register.records.revoked.has(jti)) await this.#register.addRevoked(jti);
  }

  /**
   * Signs with a new key from now on. Tokens of previous keys stay valid until they expire, unless
   * `drop` is true; keys that no valid token needs are deleted anyway. Returns the number of deleted keys.
   */
  async rotateKey({ drop }: { drop: boolean }): Promise<number> {
    return this.#keys.hold(() => {
      this.#register.look();
      return this.#keys.rotate(drop ? new Set() : this.#kidsInUse());
    });
  }

  #kidsInUse(): ReadonlySet<string> {
    const valid = this.list().filter((record) => statusOf(record) === "valid");
    const kids = valid.map(({ kid }) => kid);
    const known = kids.filter((kid) => kid !== undefined);
    return new Set(known.length === kids.length ? known : this.#keys.ring.keys());
  }

  #forgetWhenChanged(): void {
    const { ring } = this.#keys;
    const { records } = this.#register;
    if (ring === this.#seenKeys && records === this.#seenRecords) return;
    this.#seenKeys = ring;
    this.#seenRecords = records;
    this.#predecessors = predecessorsIn(records);
    this.#remembered.clear();
  }

  #keyFor(token: string): KeyObject {
    const kid = keyIdOf(token);
    const key = kid === undefined ? undefined : this.#seenKeys.get(kid);
    if (!key) throw unauthorized("the token was not signed by a key of this host");
    return key;
  }

  #remember(token: string, verified: Remembered): void {
    const [oldest] = this.#remembered.keys();
    if (this.#remembered.size >= MAX_REMEMBERED && oldest) this.#remembered.delete(oldest);
    this.#remembered.set(token, verified);
  }
}

/** Tokens whose first use ends another token that has not ended yet. */
function predecessorsIn({ issued, revoked }: TokenRecords): Map<string, string> {
  return new Map(
    issued.flatMap(({ jti, replaces }) =>
      replaces === undefined || revoked.has(replaces) ? [] : [[jti, replaces] as const],
    ),
  );
}

function rightsOf({
  scope,
  readOnlyPaths = [],
}: Pick<TokenRecord, "scope" | "readOnlyPaths">): Pick<IssueRequest, "scope" | "readOnlyPaths"> {
  const places = [...readOnlyPaths];
  return { scope: [...scope], ...(places.length > 0 && { readOnlyPaths: places }) };
}

function lifeMsOf({ issuedAt, expiresAt }: Pick<TokenRecord, "issuedAt" | "expiresAt">): number {
  return Date.parse(expiresAt) - Date.parse(issuedAt);
}

/** Records of version 0.1.0 do not name the key. */
function isRecordOf(
  { name, issuedScope, expiresAt, display = false, ...record }: TokenRecord,
  claims: TokenClaims,
  kid: string | undefined,
): boolean {
  return (
    name === claims.sub &&
    issuedScope.join() === claims.scope.join() &&
    Date.parse(expiresAt) === claims.exp * 1000 &&
    display === (claims.display ?? false) &&
    (record.kid ?? kid) === kid
  );
}

const toInstant = (seconds: number) => new Date(seconds * 1000).toISOString();
