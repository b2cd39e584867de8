import { gzipSync } from "node:zlib";

/** An entry of an archive. `type` is the flag of its header (POSIX ustar); absent means a file. */
export interface TarEntry {
  readonly path: string;
  readonly content?: string;
  /** 0 file, 1 hard link, 2 symbolic link, 3 character device, 5 folder, 6 named pipe. */
  readonly type?: number;
  readonly link?: string;
  readonly mode?: number;
  /** The size that the header claims, if that is not the content's. */
  readonly size?: number;
}

const BLOCK = 512;

/** A gzipped tar archive, byte by byte, with entries that no packer would write. */
export function tarGz(entries: readonly TarEntry[]): Buffer {
  return gzipSync(Buffer.concat([...entries.map(entryOf), Buffer.alloc(2 * BLOCK)]));
}

/** A package archive as npm packs it, of files by their path. */
export function packageTgz(files: Readonly<Record<string, string>>): Buffer {
  const entries = Object.entries(files).map(([path, content]) => ({
    path: `package/${path}`,
    content,
  }));
  return tarGz(entries);
}

function entryOf({
  path,
  content = "",
  type = 0,
  link = "",
  mode = 0o644,
  size,
}: TarEntry): Buffer {
  const body = Buffer.from(content);
  const header = Buffer.alloc(BLOCK);
  header.write(path, 0, 100);
  header.write(octal(mode, 7), 100);
  header.write(octal(0, 7), 108);
  header.write(octal(0, 7), 116);
  header.write(octal(size ?? body.length, 11), 124);
  header.write(octal(0, 11), 136);
  header.write("        ", 148);
  header.write(String(type), 156);
  header.write(link, 157, 100);
  header.write("ustar\u000000", 257, "latin1");
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${octal(sum, 6)}\0 `, 148, "latin1");
  const padding = Buffer.alloc((BLOCK - (body.length % BLOCK)) % BLOCK);
  return Buffer.concat([header, body, padding]);
}

const octal = (value: number, digits: number): string => value.toString(8).padStart(digits, "0");
