import { createCipheriv, createHash, randomBytes, scryptSync } from "node:crypto";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { brotliCompressSync, constants, createBrotliCompress } from "node:zlib";

const LAYOUT = readFileSync(resolve(import.meta.dirname, "../../layouts/default.json"));
/** Quality 5 makes a bomb in a moment, and nearly as small a one. */
const FAST = { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } };
const CHUNK = 2 ** 16;

/** Pairs of name and content, in their order; a name may come twice. */
export type Entries = readonly (readonly [name: string, content: string | Buffer])[];

/**
 * A backup file of version 1 as an attacker makes one: a right checksum over any names. It holds the default
 * layout besides, so that only the entries can be wrong.
 */
export function forgedBackup(entries: Entries, sealed = ""): Buffer {
  const rest = sealed && `,"sealed":"${sealed}"`;
  const files = [["layout.json", LAYOUT] as const, ...entries];
  return packedText(`${HEAD},"version":1,"files":${membersOf(files)}${rest}}`);
}

/** The sealed part of version 1, as the Mantel of that version made it. */
export function sealedOfVersion1(entries: Entries, passphrase: string): string {
  const [salt, nonce] = [randomBytes(16), randomBytes(12)];
  const cost = { N: 2 ** 17, r: 8, p: 1, maxmem: 256 * 2 ** 20 };
  const cipher = createCipheriv("aes-256-gcm", scryptSync(passphrase, salt, 32, cost), nonce);
  const hidden = Buffer.concat([cipher.update(membersOf(entries)), cipher.final()]);
  return Buffer.concat([salt, nonce, cipher.getAuthTag(), hidden]).toString("base64");
}

/** The file for a JSON text without its checksum, which is put in. */
export function packedText(content: string): Buffer {
  const sha256 = createHash("sha256").update(content).digest("hex");
  return brotliCompressSync(`${content.slice(0, -1)},"sha256":"${sha256}"}`, FAST);
}

/** A file that unpacks to a text of `mebibytes`, in which `filler` is repeated. It is made in little memory. */
export function bomb(mebibytes: number, filler: string, [start, end] = ["", ""]): Promise<Buffer> {
  const part = filler.repeat(CHUNK / filler.length);
  const parts = function* () {
    yield start;
    for (let size = 0; size < mebibytes * 2 ** 20; size += part.length) yield part;
    yield end;
  };
  return buffer(Readable.from(parts()).pipe(createBrotliCompress(FAST)));
}

/** The beginning of every text. */
export const HEAD = `{"format":"mantel-backup","madeAt":"2026-11-20T09:00:00.000Z","mantel":"0.1.0"`;

function membersOf(entries: Entries): string {
  const members = entries.map(
    ([name, content]) => `${JSON.stringify(name)}:"${Buffer.from(content).toString("base64")}"`,
  );
  return `{${members.join(",")}}`;
}
