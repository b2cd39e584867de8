import { createHash, randomBytes, scrypt, timingSafeEqual } from "node:crypto";

/** Costs 16 MiB of memory and about 50 ms of one CPU (scrypt, RFC 7914; N = 2^14, r = 8, p = 1). */
const COST = { N: 2 ** 14, r: 8, p: 1 } as const;
const SALT_BYTES = 16;
const KEY_BYTES = 32;
const PREFIX = "$scrypt$ln=14,r=8,p=1$";
const HASH = /^\$scrypt\$ln=14,r=8,p=1\$([\w-]{22})\$([\w-]{43})$/;

/** Hashes a password for storage. The text contains scrypt's parameters, a random salt and the key. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(SALT_BYTES);
  const key = await derive(password, salt);
  return `${PREFIX}${salt.toString("base64url")}$${key.toString("base64url")}`;
}

/** True if the text is a result of `hashPassword`. */
export function isPasswordHash(stored: string): boolean {
  return HASH.test(stored);
}

/** True if the password matches the stored hash or plain text. A wrong password takes equally long. */
export async function verifyPassword(password: string, stored: string): Promise<boolean> {
  const [, salt, key] = HASH.exec(stored) ?? [];
  if (salt === undefined || key === undefined) return isSameText(password, stored);
  const derived = await derive(password, Buffer.from(salt, "base64url"));
  return timingSafeEqual(derived, Buffer.from(key, "base64url"));
}

/** True if two texts are equal. Constant-time: the duration reveals nothing about the first difference. */
export function isSameText(one: string, other: string): boolean {
  return timingSafeEqual(digest(one), digest(other));
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

function derive(password: string, salt: Buffer): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    scrypt(password, salt, KEY_BYTES, COST, (error: Error | null, key: Buffer) =>
      error ? reject(error) : resolve(key),
    );
  });
}
