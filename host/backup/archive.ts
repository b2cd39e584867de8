import { createCipheriv, createDecipheriv, createHash, randomBytes, scrypt } from "node:crypto";
import { promisify } from "node:util";
import { brotliCompress, brotliDecompress } from "node:zlib";
import { migrated } from "@mantel/plugin-sdk/document-version";
import { MantelError } from "@mantel/plugin-sdk/errors";
import { parseJsonText } from "@mantel/plugin-sdk/json-text";
import { Type, type Static } from "typebox";
import { check } from "../validate.ts";

const FORMAT = "mantel-backup";
const VERSION = 1;
/** A backup of a home is some hundred KiB; what unpacks to more is no backup. */
const MAX_BYTES = 512 * 2 ** 20;
/** OWASP's parameters for scrypt: 128 MiB and some tenths of a second for each guess at the passphrase. */
const SCRYPT = { N: 2 ** 17, r: 8, p: 1, maxmem: 256 * 2 ** 20 };
const [SALT_BYTES, IV_BYTES, TAG_BYTES, KEY_BYTES] = [16, 12, 16, 32];

const Strict = { additionalProperties: false } as const;
/** Contents of files, base64, by their path in the data folder. */
const Files = Type.Record(
  Type.String({ pattern: "^(?!/)(?!.*(^|/)\\.)[^\\u0000\\\\]+$" }),
  Type.String({ pattern: "^[A-Za-z0-9+/]*={0,2}$" }),
  Strict,
);
const Archive = Type.Object(
  {
    format: Type.Literal(FORMAT),
    version: Type.Literal(VERSION),
    madeAt: Type.String({ format: "date-time" }),
    /** The Mantel that made it. */
    mantel: Type.String(),
    files: Files,
    /** Files with secrets, as salt, nonce, tag and what AES-256-GCM makes of their JSON; base64. */
    sealed: Type.Optional(Type.String()),
    /** SHA-256 of all the rest, hex. */
    sha256: Type.String(),
  },
  Strict,
);
type Archive = Static<typeof Archive>;

/** Contents by path. */
export type FileSet = ReadonlyMap<string, Buffer>;

export interface Backup {
  readonly madeAt: string;
  readonly mantel: string;
  readonly files: FileSet;
  readonly secrets: FileSet;
}

/** One file that holds a backup. Secrets are sealed with the passphrase. */
export async function pack(backup: Backup, passphrase?: string): Promise<Buffer> {
  const { madeAt, mantel, files, secrets } = backup;
  const content = {
    ...{ format: FORMAT, version: VERSION, madeAt, mantel },
    files: toBase64(files),
    ...(passphrase === undefined ? {} : { sealed: await seal(toBase64(secrets), passphrase) }),
  };
  return promisify(brotliCompress)(JSON.stringify({ ...content, sha256: hashOf(content) }));
}

/**
 * What a backup holds, checked whole before anything is given.
 * @throws MantelError `invalid`, in words
 */
export async function unpack(
  packed: Buffer,
  passphrase: string | undefined,
  name: string,
): Promise<Backup> {
  const stored = parseJsonText(await decompress(packed, name), name);
  const archive = check(
    Archive,
    migrated(stored, { version: VERSION, migrations: {} }, name),
    name,
  );
  const { sha256, ...content } = archive;
  if (hashOf(content) !== sha256) throw damaged(name);
  const { madeAt, mantel, files } = archive;
  const secrets = await unseal(archive, passphrase, name);
  return { madeAt, mantel, files: fromBase64(files), secrets: fromBase64(secrets) };
}

async function decompress(packed: Buffer, name: string): Promise<string> {
  try {
    return (await promisify(brotliDecompress)(packed, { maxOutputLength: MAX_BYTES })).toString();
  } catch (cause) {
    throw damaged(name, cause);
  }
}

async function seal(files: Static<typeof Files>, passphrase: string): Promise<string> {
  const [salt, nonce] = [randomBytes(SALT_BYTES), randomBytes(IV_BYTES)];
  const cipher = createCipheriv("aes-256-gcm", await keyFrom(passphrase, salt), nonce);
  const hidden = Buffer.concat([cipher.update(JSON.stringify(files)), cipher.final()]);
  return Buffer.concat([salt, nonce, cipher.getAuthTag(), hidden]).toString("base64");
}

async function unseal(
  { sealed }: Archive,
  passphrase: string | undefined,
  name: string,
): Promise<Static<typeof Files>> {
  if (sealed === undefined || passphrase === undefined) return {};
  const bytes = Buffer.from(sealed, "base64");
  const hiddenAt = SALT_BYTES + IV_BYTES + TAG_BYTES;
  const nonce = bytes.subarray(SALT_BYTES, SALT_BYTES + IV_BYTES);
  try {
    const key = await keyFrom(passphrase, bytes.subarray(0, SALT_BYTES));
    const options = { authTagLength: TAG_BYTES };
    const decipher = createDecipheriv("aes-256-gcm", key, nonce, options);
    decipher.setAuthTag(bytes.subarray(SALT_BYTES + IV_BYTES, hiddenAt));
    const shown = Buffer.concat([decipher.update(bytes.subarray(hiddenAt)), decipher.final()]);
    return check(Files, JSON.parse(shown.toString()), name);
  } catch (cause) {
    const detail = `the secrets in ${name} do not open with this passphrase`;
    throw new MantelError("invalid", detail, { cause });
  }
}

async function keyFrom(passphrase: string, salt: Buffer): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    scrypt(passphrase.normalize("NFC"), salt, KEY_BYTES, SCRYPT, (error, key) =>
      error ? reject(error) : resolve(key),
    );
  });
}

function hashOf(content: object): string {
  return createHash("sha256").update(JSON.stringify(content)).digest("hex");
}

function toBase64(files: FileSet): Static<typeof Files> {
  return Object.fromEntries([...files].map(([path, bytes]) => [path, bytes.toString("base64")]));
}

function fromBase64(files: Static<typeof Files>): FileSet {
  return new Map(Object.entries(files).map(([path, text]) => [path, Buffer.from(text, "base64")]));
}

function damaged(name: string, cause?: unknown): MantelError {
  return new MantelError("invalid", `${name} is no backup of a Mantel, or is damaged`, { cause });
}
