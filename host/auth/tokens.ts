import { createHash, type KeyObject, randomUUID } from "node:crypto";
import { MantelError } from "@mantel/plugin-sdk/errors";
import jwt, { type JwtPayload } from "jsonwebtoken";
import { Type } from "typebox";
import type { HostLog } from "../log.ts";
import { faultsOf } from "../validate.ts";
import { type KeyRing, Keys } from "./keys.ts";
import { keepPrivate } from "./private-file.ts";
import { type Scope, SCOPES } from "./scopes.ts";
import { statusOf, type TokenRecord, TokenRegister, type TokenRecords } from "./token-register.ts";
import type { TokenRequest } from "./token-request.ts";

const ALGORITHM = "HS256";
const ISSUER = "mantel";
const AUDIENCE = "mantel-api";
const LEEWAY_SECONDS = 30;
const MAX_REMEMBERED = 1_000;

const Claims = Type.Object({
  sub: Type.String({ minLength: 1 }),
  jti: Type.String({ minLength: 1 }),
  iat: Type.Number(),
  exp: Type.Number(),
  scope: Type.Array(Type.Enum([...SCOPES]), { minItems: 1 }),
});

/** Who a valid token stands for. */
export interface Principal {
  /** The name the token was issued under. */
  readonly sub: string;
  readonly jti: string;
  readonly scope: readonly Scope[];
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

  private constructor(keys: Keys, register: TokenRegister) {
    this.#keys = keys;
    this.#register = register;
    this.#seenKeys = keys.ring;
    this.#seenRecords = register.records;
  }

  static async open({ dataFolder, log }: { dataFolder: string; log: HostLog }): Promise<Tokens> {
    await keepPrivate(dataFolder, log);
    const keys = await Keys.open(dataFolder, log);
    return new Tokens(keys, await TokenRegister.open(dataFolder, log));
  }

  /** A new token, on record before it is given out. @throws MantelError `disk_full` */
  issue(request: TokenRequest): Promise<string> {
    return this.#keys.hold(() => this.#issue(request));
  }

  async #issue({ name, scope, ttlSeconds }: TokenRequest): Promise<string> {
    const [signing] = this.#keys.ring;
    if (!signing) throw new Error("the key ring is empty");
    const [keyid, key] = signing;
    const jti = randomUUID();
    const iat = Math.floor(Date.now() / 1000);
    const exp = iat + ttlSeconds;
    const token = jwt.sign({ sub: name, jti, iat, exp, scope }, key, {
      algorithm: ALGORITHM,
      issuer: ISSUER,
      audience: AUDIENCE,
      keyid,
    });
    await this.#register.addIssued({
      name,
      jti,
      kid: keyid,
      scope: [...scope],
      issuedAt: toInstant(iat),
      expiresAt: toInstant(exp),
    });
    return token;
  }

  /** @throws MantelError `unauthorized`, with a sentence that says why */
  verify(token: string): Principal {
    this.#forgetWhenChanged();
    const hash = createHash("sha256").update(token).digest("base64");
    const remembered = this.#remembered.get(hash);
    if (remembered && Date.now() < remembered.validUntil) return remembered.principal;

    const { sub, jti, scope, exp } = readClaims(token, this.#keyFor(token));
    if (this.#seenRecords.revoked.has(jti)) throw unauthorized("the token was revoked");
    const principal = Object.freeze({ sub, jti, scope });
    this.#remember(hash, { principal, validUntil: (exp + LEEWAY_SECONDS) * 1000 });
    return principal;
  }

  /** Every token on record, oldest first. */
  list(): readonly TokenRecord[] {
    return this.#register.records.issued;
  }

  /** Revokes the tokens of this name that are not revoked yet, and tells how many there were. */
  async revoke(name: string): Promise<number> {
    const concerned = this.list().filter((each) => each.name === name && !each.revokedAt);
    for (const { jti } of concerned) await this.#register.addRevoked(jti);
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
    this.#remembered.clear();
  }

  #keyFor(token: string): KeyObject {
    const kid = decodeHeader(token)?.kid;
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

function decodeHeader(token: string): jwt.JwtHeader | undefined {
  try {
    return jwt.decode(token, { complete: true })?.header;
  } catch {
    return undefined; // Not a token at all; to the caller that is the same as an unknown key.
  }
}

function readClaims(token: string, key: KeyObject) {
  const claims = verifySignature(token, key);
  // The library checks `exp` when there is one, and takes a `scope` of any type.
  if (faultsOf(Claims, claims).length > 0) throw unauthorized("the token lacks a needed claim");
  return claims as typeof claims & { sub: string; jti: string; exp: number; scope: Scope[] };
}

function verifySignature(token: string, key: KeyObject): JwtPayload {
  try {
    const claims = jwt.verify(token, key, {
      algorithms: [ALGORITHM],
      issuer: ISSUER,
      audience: AUDIENCE,
      clockTolerance: LEEWAY_SECONDS,
    });
    return typeof claims === "string" ? {} : claims;
  } catch (cause) {
    const expired = cause instanceof jwt.TokenExpiredError;
    throw unauthorized(expired ? "the token has expired" : "the token is not valid here", cause);
  }
}

function unauthorized(message: string, cause?: unknown): MantelError {
  return new MantelError("unauthorized", message, { cause });
}

const toInstant = (seconds: number) => new Date(seconds * 1000).toISOString();
