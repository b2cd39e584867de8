import { isUtf8 } from "node:buffer";
import { createCipheriv, createDecipheriv, createHash, randomBytes } from "node:crypto";
import { promisify } from "node:util";
import { brotliCompress, constants, createBrotliDecompress } from "node:zlib";
import { migrated } from "@mantel/plugin-sdk/document-version";
import { MantelError } from "@mantel/plugin-sdk/errors";
import { Type, type Static } from "typebox";
import { printableName } from "../file-names.ts";
import { JsonShape } from "../json-shape.ts";
import { check } from "../validate.ts";
import {
  type JsonLimits,
  MAX_FILE_BYTES,
  MAX_FILES,
  MAX_PACKED_BYTES,
  MAX_UNPACKED_BYTES,
  mebibytes,
  requireWithinLimits,
} from "./limits.ts";
import { SCRYPT_COST, SCRYPT_COST_OF_VERSION_1, deriveKey, ScryptCost } from "./passphrase-key.ts";
import { findNameFault, isSecret } from "./paths.ts";

const FORMAT = "mantel-backup";
const VERSION = 2;
/**
 * Quality 11, brotli's default, takes 17 s for a home of some MiB; 5 takes tenths of a second and is a tenth
 * larger.
 */
const QUALITY = 5;
const CHUNK_BYTES = 256 * 2 ** 10;
const [SALT_BYTES, NONCE_BYTES, TAG_BYTES] = [16, 12, 16];
/** The limits of the archive as JSON. Its third level is the cost of the sealed part's key. */
const ARCHIVE_LIMITS: JsonLimits = { maxDepth: 3, maxParts: 2 * MAX_FILES + 64 };
const SEALED_LIMITS: JsonLimits = { ...ARCHIVE_LIMITS, maxDepth: 1 };
/** Every text ends with its checksum, a member of this length. */
const CHECKSUM = /^,"sha256":"([0-9a-f]{64})"\}$/;
const CHECKSUM_BYTES = 77;

const Strict = { additionalProperties: false } as const;
const Base64 = Type.String({ pattern: "^[A-Za-z0-9+/]*={0,2}$" });
/** Contents of files, base64, by their path in the data folder. */
const Files = Type.Record(Type.String({ pattern: "^[\\s\\S]*$" }), Base64, Strict);
const head = {
  format: Type.Literal(FORMAT),
  madeAt: Type.String({ format: "date-time" }),
  /** The version of Mantel that made it. */
  mantel: Type.String({ maxLength: 100 }),
  files: Files,
};
/** SHA-256 of everything before it, hex. */
const tail = { sha256: Type.String() };
const ArchiveVersion1 = Type.Object(
  { ...head, version: Type.Literal(1), sealed: Type.Optional(Base64), ...tail },
  Strict,
);
/**
 * Files with secrets: salt, nonce, tag and the AES-256-GCM encryption of their JSON, with a key by scrypt. Since
 * version 2 the tag also authenticates the open files.
 */
const Sealed = Type.Object({ scrypt: ScryptCost, bytes: Base64 }, Strict);
const Archive = Type.Object(
  { ...head, version: Type.Literal(VERSION), sealed: Type.Optional(Sealed), ...tail },
  Strict,
);
type Archive = Static<typeof Archive> | Static<typeof ArchiveVersion1>;
type Base64Files = Static<typeof Files>;
type Sealed = Static<typeof Sealed>;
type Open = Omit<Archive, "sealed" | "sha256">;

/** Contents by path. */
export type FileSet = ReadonlyMap<string, Buffer>;

export interface Backup {
  readonly madeAt: string;
  readonly mantel: string;
  readonly files: FileSet;
  readonly secrets: FileSet;
}

/** An unpacked backup. */
export interface Unpacked extends Backup {
  /** True if it has a sealed part, which its passphrase opens. */
  readonly isSealed: boolean;
}

/** One file that contains a backup. Secrets are sealed with the passphrase. */
export async function pack(backup: Backup, passphrase?: string): Promise<Buffer> {
  const { madeAt, mantel, files, secrets } = backup;
  const open: Open = { format: FORMAT, version: VERSION, madeAt, mantel, files: toBase64(files) };
  const content = JSON.stringify(
    passphrase === undefined
      ? open
      : { ...open, sealed: await seal(toBase64(secrets), passphrase, open) },
  );
  const sha256 = createHash("sha256").update(content).digest("hex");
  const text = Buffer.from(`${content.slice(0, -1)},"sha256":"${sha256}"}`);
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: QUALITY,
    [constants.BROTLI_PARAM_SIZE_HINT]: text.length,
  };
  return promisify(brotliCompress)(text, { params });
}

/**
 * Reads a backup and checks it completely: its size while it unpacks, its checksum, its form, and every name.
 * Without a
 * passphrase the result has no secrets.
 *
 * @param name names it in messages
 * @throws MantelError `invalid`, with the reason
 */
export async function unpack(
  packed: Buffer,
  passphrase: string | undefined,
  name: string,
): Promise<Unpacked> {
  const archive = await readArchive(packed, name);
  const { madeAt, mantel, files, version, sealed } = archive;
  const isFault = (path: string) => isSecret(path) && !isOpenInVersion1(path, version);
  const misplaced = Object.keys(files).find(isFault);
  if (misplaced !== undefined) {
    throw refused(name, `it contains ${printableName(misplaced)} outside its sealed part`);
  }
  const secrets = passphrase === undefined ? {} : await unseal(archive, passphrase, name);
  assertBounded([...Object.entries(files), ...Object.entries(secrets)], name);
  const unpacked = { files: fromBase64(files), secrets: fromBase64(secrets) };
  return { madeAt, mantel, ...unpacked, isSealed: sealed !== undefined };
}

/** Version 1 had the hashes of feed addresses among its open files, although they are credentials. */
const isOpenInVersion1 = (path: string, version: number) =>
  version === 1 && path === "calendar-feeds.json";

async function readArchive(packed: Buffer, name: string): Promise<Archive> {
  const shape = new JsonShape();
  const text = await decompress(packed, shape, name);
  const end = text.length - CHECKSUM_BYTES;
  const sha256 = CHECKSUM.exec(text.subarray(Math.max(end, 0)).toString("latin1"))?.[1];
  const actual = createHash("sha256")
    .update(text.subarray(0, Math.max(end, 0)))
    .update("}");
  if (sha256 !== actual.digest("hex") || !isUtf8(text)) throw damaged(name);
  const stored = parseJson(text, name);
  migrated(stored, { version: VERSION, migrations: {} }, name); // refuses newer versions
  const { version } = stored as { version?: unknown };
  const archive: Archive = check(version === 1 ? ArchiveVersion1 : Archive, stored, name);
  if (shape.members !== membersOf(archive)) throw refused(name, "it contains a name twice");
  return archive;
}

function membersOf(value: object): number {
  const parts = Object.values(value).filter((each) => typeof each === "object" && each !== null);
  return (
    Object.keys(value).length +
    parts.reduce((sum: number, each: object) => sum + membersOf(each), 0)
  );
}

/** Unpacks at most the size that a backup may have, and stops at the first byte beyond a limit. */
async function decompress(packed: Buffer, shape: JsonShape, name: string): Promise<Buffer> {
  if (packed.length > MAX_PACKED_BYTES) {
    throw refused(
      name,
      `it has ${mebibytes(packed.length)}, and may have at most ${mebibytes(MAX_PACKED_BYTES)}`,
    );
  }
  const chunks: Buffer[] = [];
  let size = 0;
  const stream = createBrotliDecompress({ chunkSize: CHUNK_BYTES });
  stream.end(packed);
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > MAX_UNPACKED_BYTES) {
        throw refused(name, `it unpacks to more than ${mebibytes(MAX_UNPACKED_BYTES)}`);
      }
      requireWithinLimits(shape.add(chunk), ARCHIVE_LIMITS, name);
      chunks.push(chunk);
    }
  } catch (cause) {
    throw cause instanceof MantelError ? cause : damaged(name, cause);
  }
  return Buffer.concat(chunks, size);
}

async function seal(files: Base64Files, passphrase: string, open: Open): Promise<Sealed> {
  const [salt, nonce] = [randomBytes(SALT_BYTES), randomBytes(NONCE_BYTES)];
  const cipher = createCipheriv(
    "aes-256-gcm",
    await deriveKey(passphrase, salt, SCRYPT_COST),
    nonce,
  );
  cipher.setAAD(hashOf(open));
  const hidden = Buffer.concat([cipher.update(JSON.stringify(files)), cipher.final()]);
  const bytes = Buffer.concat([salt, nonce, cipher.getAuthTag(), hidden]).toString("base64");
  return { scrypt: SCRYPT_COST, bytes };
}

async function unseal(archive: Archive, passphrase: string, name: string): Promise<Base64Files> {
  const { sha256: _checksum, sealed, ...open } = archive;
  if (sealed === undefined) return {};
  const isVersion1 = typeof sealed === "string";
  const bytes = Buffer.from(isVersion1 ? sealed : sealed.bytes, "base64");
  const [nonceAt, tagAt] = [SALT_BYTES, SALT_BYTES + NONCE_BYTES];
  const hiddenAt = tagAt + TAG_BYTES;
  const cost = isVersion1 ? SCRYPT_COST_OF_VERSION_1 : sealed.scrypt;
  const key = await deriveKey(passphrase, bytes.subarray(0, nonceAt), cost);
  let opened: Buffer;
  try {
    const options = { authTagLength: TAG_BYTES };
    const decipher = createDecipheriv("aes-256-gcm", key, bytes.subarray(nonceAt, tagAt), options);
    if (!isVersion1) decipher.setAAD(hashOf(open));
    decipher.setAuthTag(bytes.subarray(tagAt, hiddenAt));
    opened = Buffer.concat([decipher.update(bytes.subarray(hiddenAt)), decipher.final()]);
  } catch (cause) {
    const detail = `wrong passphrase for the secrets in ${name}, or the file was changed`;
    throw new MantelError("invalid", detail, { cause });
  }
  const shape = new JsonShape().add(opened);
  requireWithinLimits(shape, SEALED_LIMITS, name);
  const files = check(Files, parseJson(opened, name), name);
  if (Object.keys(files).length !== shape.members) throw damaged(name);
  return files;
}

/** Hashes the open part. Its members are in the order in which they were written. */
function hashOf(open: Open): Buffer {
  return createHash("sha256").update(JSON.stringify(open)).digest();
}

/** @throws MantelError `invalid` for more or larger files than a home has */
function assertBounded(entries: readonly (readonly [string, string])[], name: string): void {
  const fault = findNameFault(entries.map(([path]) => path));
  if (fault !== undefined) throw refused(name, fault);
  if (entries.length > MAX_FILES) throw refused(name, `it contains more than ${MAX_FILES} files`);
  const large = entries.find(([, base64]) => (base64.length / 4) * 3 > MAX_FILE_BYTES + 2);
  if (!large) return;
  throw refused(name, `${printableName(large[0])} has more than ${mebibytes(MAX_FILE_BYTES)}`);
}

function toBase64(files: FileSet): Base64Files {
  return Object.fromEntries([...files].map(([path, bytes]) => [path, bytes.toString("base64")]));
}

function fromBase64(files: Base64Files): FileSet {
  return new Map(Object.entries(files).map(([path, text]) => [path, Buffer.from(text, "base64")]));
}

/** Parses JSON. The engine's error message is not used: it would quote the text, which may contain a secret. */
function parseJson(bytes: Buffer, name: string): unknown {
  try {
    return JSON.parse(bytes.toString());
  } catch {
    throw damaged(name);
  }
}

function refused(name: string, reason: string): MantelError {
  return new MantelError("invalid", `${name} is refused: ${reason}`);
}

function damaged(name: string, cause?: unknown): MantelError {
  return new MantelError("invalid", `${name} is not a backup of Mantel, or is damaged`, { cause });
}
