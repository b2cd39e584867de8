import { scrypt } from "node:crypto";
import { MantelError } from "@mantel/plugin-sdk/errors";
import { Type, type Static } from "typebox";

/** Parameters of scrypt (RFC 7914): cost, block size, parallelization. */
export const ScryptCost = Type.Object(
  {
    N: Type.Integer({ minimum: 2, maximum: 2 ** 20 }),
    r: Type.Integer({ minimum: 1, maximum: 32 }),
    p: Type.Integer({ minimum: 1, maximum: 16 }),
  },
  { additionalProperties: false },
);
export type ScryptCost = Static<typeof ScryptCost>;

/**
 * One of the settings that OWASP lists as equally strong, and as the minimum. It takes
 * half the time of N = 2^17, p = 1 and an eighth of the memory, so that a backup fits a small machine.
 */
export const SCRYPT_COST: ScryptCost = { N: 2 ** 14, r: 8, p: 5 };
/** The cost of version 1, which its files do not contain. */
export const SCRYPT_COST_OF_VERSION_1: ScryptCost = { N: 2 ** 17, r: 8, p: 1 };

/** Twice the work of version 1, and its memory: the limits for a hostile file. */
const MAX_WORK = 2 * SCRYPT_COST_OF_VERSION_1.N * SCRYPT_COST_OF_VERSION_1.r;
const MAX_MEMORY = 128 * SCRYPT_COST_OF_VERSION_1.N * SCRYPT_COST_OF_VERSION_1.r;
const KEY_BYTES = 32;

/** An AES-256 key from a passphrase. @throws MantelError `invalid` for a cost beyond the limits */
export async function deriveKey(
  passphrase: string,
  salt: Buffer,
  cost: ScryptCost,
): Promise<Buffer> {
  const { N, r, p } = cost;
  const isAffordable = N * r * p <= MAX_WORK && 128 * N * r <= MAX_MEMORY;
  if (!isAffordable || !Number.isInteger(Math.log2(N))) {
    const detail = `the key derivation of the backup (N=${N}, r=${r}, p=${p}) exceeds the limits`;
    throw new MantelError("invalid", detail);
  }
  // OpenSSL counts slightly more than the 128 * N * r bytes of the algorithm.
  const options = { N, r, p, maxmem: 2 * MAX_MEMORY };
  return new Promise((resolve, reject) => {
    scrypt(passphrase.normalize("NFC"), salt, KEY_BYTES, options, (error, key) =>
      error ? reject(error) : resolve(key),
    );
  });
}
