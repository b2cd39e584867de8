import { createSecretKey, generateKeyPairSync, type KeyObject } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import jwt from "jsonwebtoken";

const CLAIMS = { sub: "forger", jti: "1", iss: "mantel", aud: "mantel-api", scope: ["admin"] };

/** The key that a data folder's tokens are signed with. */
export interface SigningKey {
  readonly kid: string;
  readonly secret: KeyObject;
}

/** The key of this `kid`; the one that signs now when absent. */
export async function readSigningKey(data: string, wanted?: string): Promise<SigningKey> {
  const { keys } = JSON.parse(await readFile(join(data, "keys.json"), "utf8")) as {
    keys: [{ kid: string; secret: string }];
  };
  const { kid, secret } = keys.find((key) => key.kid === wanted) ?? keys[0];
  return { kid, secret: createSecretKey(Buffer.from(secret, "base64url")) };
}

/** A token as the host makes it, with other claims or header fields. */
export function signedWith(
  { kid, secret }: SigningKey,
  claims: object = {},
  options: Options = {},
): string {
  const { key = secret, ...rest } = options;
  const all = { iat: now(), exp: now() + 60, ...CLAIMS, ...claims };
  return jwt.sign(all, key, { keyid: kid, ...rest });
}

/**
 * Tokens that nobody may be let in with, by what is wrong with each. `genuine` is a good one: the others
 * say what it says but for their fault, so that its record in the register vouches for them.
 */
export function forgeries(signing: SigningKey, genuine: string): Record<string, string> {
  const own = jwt.decode(genuine) as OwnClaims;
  const sign: Sign = (claims, options) => signedWith(signing, { ...own, ...claims }, options);
  return {
    ...malformed(genuine, own),
    ...withoutSignature(signing, genuine, own),
    ...otherKeys(signing, sign),
    ...oddHeaders(sign),
    ...wrongClaims(signing, own, sign),
    ...offRecord(own, sign),
  };
}

type OwnClaims = jwt.JwtPayload & { readonly exp: number };
type Options = jwt.SignOptions & { key?: jwt.Secret };
type Sign = (claims: object, options?: Options) => string;

/** Tokens that differ from good ones only in what the register has of them. */
function offRecord(own: OwnClaims, sign: Sign): Record<string, string> {
  return {
    "an unknown jti": sign({ jti: "1" }),
    "a jti of the prototype": sign({ jti: "__proto__" }),
    "scopes beyond its record": sign({ scope: ["read", "control", "edit", "admin"] }),
    "a life beyond its record": sign({ exp: own.exp + 60 }),
    "a name beside its record": sign({ sub: "somebody" }),
    "a display beside its record": sign({ display: true }),
  };
}

function malformed(genuine: string, own: OwnClaims): Record<string, string> {
  const [head = "", claims = "", signature = ""] = genuine.split(".");
  const other = signature.startsWith("A") ? "B" : "A";
  return {
    nothing: "",
    "no token": "abc",
    "only dots": "..",
    "claims swapped": `${head}.${encode({ ...own, sub: "forger" })}.${signature}`,
    "signature cut": genuine.slice(0, -2),
    "signature changed": `${head}.${claims}.${other}${signature.slice(1)}`,
    "signature padded": `${genuine}=`,
    "claims that are not JSON": `${head}.${Buffer.from("{").toString("base64url")}.${signature}`,
    "claims that are not an object": `${head}.${encode(5)}.${signature}`,
    "text appended": `${genuine}.${signature}`,
    "a very long one": `${head}.${"A".repeat(8_000)}.${signature}`,
  };
}

function withoutSignature(
  { kid }: SigningKey,
  genuine: string,
  own: OwnClaims,
): Record<string, string> {
  const [head = "", claims = "", signature = ""] = genuine.split(".");
  const open = encode(own);
  return {
    "no signature": `${head}.${claims}.`,
    "alg none": `${encode({ alg: "none", typ: "JWT", kid })}.${open}.`,
    "alg None": `${encode({ alg: "None", typ: "JWT", kid })}.${open}.`,
    "alg NONE": `${encode({ alg: "NONE", typ: "JWT", kid })}.${open}.`,
    "alg none, kept signature": `${encode({ alg: "none", kid })}.${claims}.${signature}`,
    "no alg": `${encode({ typ: "JWT", kid })}.${open}.${signature}`,
    "alg in small letters": `${encode({ alg: "hs256", kid })}.${claims}.${signature}`,
  };
}

function otherKeys(signing: SigningKey, signWith: Sign): Record<string, string> {
  const { privateKey: rsa } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const { privateKey: ec } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const sign = (options: Options) => signWith({}, options);
  return {
    HS384: sign({ algorithm: "HS384" }),
    HS512: sign({ algorithm: "HS512" }),
    RS256: sign({ algorithm: "RS256", key: rsa }),
    ES256: sign({ algorithm: "ES256", key: ec }),
    "another key": sign({ key: createSecretKey(Buffer.alloc(32, 1)) }),
    "a short key": sign({ key: createSecretKey(Buffer.from("x")) }),
    "the key's own name as key": sign({ key: createSecretKey(Buffer.from(signing.kid)) }),
  };
}

function oddHeaders(signWith: Sign): Record<string, string> {
  const own = createSecretKey(Buffer.alloc(32, 7));
  const jwk = { kty: "oct", k: Buffer.alloc(32, 7).toString("base64url") };
  const sign = (options: Options) => signWith({}, options);
  const header = (fields: object) => ({ alg: "HS256" as const, ...fields });
  return {
    "an unknown kid": sign({ keyid: "nobody" }),
    "kid of the prototype": sign({ keyid: "__proto__" }),
    "kid that is a path": sign({ keyid: "../../../dev/null", key: own }),
    "its own key in the header": sign({ key: own, header: header({ jwk }) }),
    "a key to be fetched": sign({ key: own, header: header({ jku: "http://127.0.0.1/k" }) }),
    "a certificate to be fetched": sign({ key: own, header: header({ x5u: "http://127.0.0.1/" }) }),
  };
}

function wrongClaims(signing: SigningKey, own: OwnClaims, sign: Sign): Record<string, string> {
  const without = (name: string) => {
    const { [name]: _, ...rest } = own;
    return jwt.sign(rest, signing.secret, {
      keyid: signing.kid,
      noTimestamp: name === "iat",
    });
  };
  return {
    "another issuer": sign({ iss: "somebody" }),
    "another audience": sign({ aud: "other" }),
    expired: sign({ exp: now() - 31 }),
    "not yet valid": sign({ nbf: now() + 3_600 }), // beyond a long run
    "no exp": without("exp"),
    "no iat": without("iat"),
    "no jti": without("jti"),
    "no sub": without("sub"),
    "no scope": without("scope"),
    "no issuer": without("iss"),
    "no audience": without("aud"),
    "scope as text": sign({ scope: "admin" }),
    "scope as text with more": sign({ scope: "nonadmin" }),
    "an unknown scope": sign({ scope: ["root"] }),
    "no scopes": sign({ scope: [] }),
    "scope with an object": sign({ scope: [{ admin: true }] }),
    "scopes under another name": sign({ scope: undefined, scopes: ["admin"] }),
    "a number as jti": sign({ jti: 1 }),
  };
}

const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
const now = () => Math.floor(Date.now() / 1000);
