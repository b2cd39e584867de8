import { createHash, type KeyObject, randomUUID } from "node:crypto";
import type { HostLog } from "../log.ts";
import {
  keyIdOf,
  LEEWAY_SECONDS,
  readClaims,
  refused,
  signClaims,
  unauthorized,
} from "./claims.ts";
import { type KeyRing, Keys } from "./keys.ts";
import { keepPrivate } from "./private-file.ts";
import type { Scope } from "./scopes.ts";
import {
  renewalsOf,
  statusOf,
  type TokenRecord,
  TokenRegister,
  type TokenRecords,
} from "./token-register.ts";
import type { TokenRequest } from "./token-request.ts";

const MAX_REMEMBERED = 1_000;
/** Part of a life after which a display's token is renewed: it may be away for the rest. */
const RENEWED_AFTER = 1 / 3;

/** Who a valid token stands for. */
export interface Principal {
  /** The name the token was issued under. */
  readonly sub: string;
  readonly jti: string;
  readonly scope: readonly Scope[];
  /** True for a display that was paired. */
  readonly display?: boolean;
}

/** What a token is issued for: a person or a program, or a display. */
export interface IssueRequest extends TokenRequest {
  readonly display?: boolean;
  /** The `jti` of the token that ends when the new one is first used. */
  readonly replaces?: string;
}

interface Remembered {
  readonly principal: Principal;
  /** Epoch milliseconds. */
  readonly validUntil: number;
}

/**
 * Issues, verifies and revokes bearer tokens (RFC 7519). What another process issues or revokes in the
 * same data folder counts here within a fifth of a second.
 */
export class Tokens {
  readonly #keys: Keys;
  readonly #register: TokenRegister;
  /** Verified tokens by their hash. Forgotten whole when a key or a record changes. */
  readonly #remembered = new Map<string, Remembered>();
  #seenKeys: KeyRing;
  #seenRecords: TokenRecords;
  /** By the `jti` of a token, that of the one which ends with its first use. */
  #predecessors = new Map<string, string>();

  private constructor(keys: Keys, register: TokenRegister) {
    this.#keys = keys;
    this.#register = register;
    this.#seenKeys = keys.ring;
    this.#seenRecords = register.records;
    this.#predecessors = predecessorsIn(register.records);
  }

  static async open({ dataFolder, log }: { dataFolder: string; log: HostLog }): Promise<Tokens> {
    await keepPrivate(dataFolder, log);
    const keys = await Keys.open(dataFolder, log);
    return new Tokens(keys, await TokenRegister.open(dataFolder, log));
  }

  /** A new token, on record before it is given out. @throws MantelError `disk_full` */
  issue(request: IssueRequest): Promise<string> {
    return this.#keys.hold(() => this.#issue(request));
  }

  async #issue({ name, scope, ttlSeconds, ...display }: IssueRequest): Promise<string> {
    const [signing] = this.#keys.ring;
    if (!signing) throw new Error("the key ring is empty");
    const jti = randomUUID();
    const iat = Math.floor(Date.now() / 1000);
    const exp = iat + ttlSeconds;
    const isDisplay = display.display === true ? { display: true } : {};
    const token = signClaims({ sub: name, jti, iat, exp, scope, ...isDisplay }, signing);
    await this.#register.addIssued({
      name,
      jti,
      kid: signing[0],
      scope: [...scope],
      issuedAt: toInstant(iat),
      expiresAt: toInstant(exp),
      ...display,
    });
    return token;
  }

  /** @throws MantelError `unauthorized`, with a sentence that says why */
  verify(token: string): Principal {
    this.#forgetWhenChanged();
    const hash = createHash("sha256").update(token).digest("base64");
    const remembered = this.#remembered.get(hash);
    if (remembered && Date.now() < remembered.validUntil) return remembered.principal;

    const { sub, jti, scope, exp, display } = readClaims(token, this.#keyFor(token));
    if (this.#seenRecords.revoked.has(jti)) throw refused("revoked", "the token was revoked");
    const principal = Object.freeze({ sub, jti, scope, ...(display ? { display } : {}) });
    this.#remember(hash, { principal, validUntil: (exp + LEEWAY_SECONDS) * 1000 });
    return principal;
  }

  /**
   * The token that follows a display's, or `undefined` while less than a third of its life is over.
   * @throws MantelError `disk_full`
   */
  async renew({ sub, jti, scope }: Principal): Promise<string | undefined> {
    const own = this.list().find((each) => each.jti === jti);
    if (!own) return undefined;
    const lifeMs = Date.parse(own.expiresAt) - Date.parse(own.issuedAt);
    if (Date.now() - Date.parse(own.issuedAt) < lifeMs * RENEWED_AFTER) return undefined;
    const ttlSeconds = Math.round(lifeMs / 1000);
    return this.issue({ name: sub, scope: [...scope], ttlSeconds, display: true, replaces: jti });
  }

  /**
   * Notes that a token is in use, which ends the one it was made to follow: it has arrived.
   * @throws MantelError `disk_full`; the next use tries again
   */
  async noteUse({ jti }: Principal): Promise<void> {
    const predecessor = this.#predecessors.get(jti);
    if (predecessor === undefined) return;
    this.#predecessors.delete(jti);
    try {
      await this.#register.addRevoked(predecessor);
    } catch (error) {
      this.#predecessors.set(jti, predecessor);
      throw error;
    }
  }

  /** Every token on record, oldest first. */
  list(): readonly TokenRecord[] {
    return this.#register.records.issued;
  }

  /**
   * Revokes the tokens of this name that are not revoked yet, and tells how many there were. With the
   * `jti` of one, only that and what it was renewed from or as: two displays may have one name.
   */
  async revoke(name: string, jti?: string): Promise<number> {
    const named = this.list().filter((each) => each.name === name);
    const meant = jti === undefined ? named : renewalsOf(jti, named);
    const concerned = meant.filter((each) => !each.revokedAt);
    for (const token of concerned) await this.#register.addRevoked(token.jti);
    return concerned.length;
  }

  /**
   * Signs with a fresh key from now on. Tokens of the keys before stay valid until they expire, unless
   * these are dropped; a key that no valid token needs goes anyway. Gives how many keys went.
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

  #remember(hash: string, verified: Remembered): void {
    const [oldest] = this.#remembered.keys();
    if (this.#remembered.size >= MAX_REMEMBERED && oldest) this.#remembered.delete(oldest);
    this.#remembered.set(hash, verified);
  }
}

/** Tokens whose first use ends another one that is not ended yet. */
function predecessorsIn({ issued, revoked }: TokenRecords): Map<string, string> {
  return new Map(
    issued.flatMap(({ jti, replaces }) =>
      replaces === undefined || revoked.has(replaces) ? [] : [[jti, replaces] as const],
    ),
  );
}

const toInstant = (seconds: number) => new Date(seconds * 1000).toISOString();
