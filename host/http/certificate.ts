import { createPrivateKey, type KeyObject, X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { MantelError } from "@mantel/plugin-sdk/errors";
import type { HostLog } from "../log.ts";
import { findStat } from "../safe-stat.ts";

/** A change of the files is noticed within this time, when a client connects. */
const LOOK_EVERY_MS = 1_000;
const DAY_MS = 24 * 60 * 60 * 1000;
const WARN_AHEAD_MS = 30 * DAY_MS;
const PEM_BLOCK = /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g;

/** Paths of PEM files: the certificate with its chain, and its private key without a passphrase. */
export interface TlsFiles {
  readonly cert: string;
  readonly key: string;
}

interface Loaded {
  readonly cert: string;
  readonly key: string;
  readonly leaf: X509Certificate;
  /** A self-signed authority at the end of the chain, which devices can be set to trust. */
  readonly authority: X509Certificate | undefined;
}

/**
 * The server's certificate. The files are checked as connections arrive and not watched:
 * they need no owner then, and may be links that another program replaces.
 */
export class ServerCertificate {
  readonly #files: TlsFiles;
  readonly #log: HostLog;
  #loaded: Loaded;
  #stamp: string;
  #lookedAt = performance.now();
  #judgedAt = Date.now();

  /** @throws MantelError `invalid` if a file is missing or invalid, or the two do not match */
  constructor(files: TlsFiles, log: HostLog) {
    this.#files = files;
    this.#log = log;
    this.#stamp = this.#readStamp();
    this.#loaded = load(files);
    this.#judge();
  }

  /** The options for TLS. */
  get pair(): { cert: string; key: string } {
    const { cert, key } = this.#loaded;
    return { cert, key };
  }

  get authority(): X509Certificate | undefined {
    return this.#loaded.authority;
  }

  /** True if the files contain another valid pair than before. An invalid pair changes nothing. */
  renew(): boolean {
    if (performance.now() - this.#lookedAt < LOOK_EVERY_MS) return false;
    this.#lookedAt = performance.now();
    if (Date.now() - this.#judgedAt > DAY_MS) this.#judge();
    const stamp = this.#readStamp();
    if (stamp === this.#stamp) return false;
    this.#stamp = stamp;
    return this.#load();
  }

  #load(): boolean {
    try {
      this.#loaded = load(this.#files);
      this.#log.info("the certificate was renewed", { ...this.#files });
      this.#judge();
      return true;
    } catch (error) {
      const reason = (error as Error).message;
      this.#log.error("invalid new certificate; keeping the previous one", { reason });
      return false;
    }
  }

  /** Logs problems for which browsers would only show a page of warnings. */
  #judge(): void {
    this.#judgedAt = Date.now();
    const { cert, key } = this.#files;
    const { validFrom, validTo } = this.#loaded.leaf;
    const leftMs = Date.parse(validTo) - Date.now();
    const until = { cert, validFrom, validTo };
    if (Date.parse(validFrom) > Date.now()) {
      this.#log.error("the certificate is not valid yet; check the clock", until);
    } else if (leftMs < 0) {
      this.#log.error(
        "the certificate has expired; make a new one with npm run certificate",
        until,
      );
    } else if (leftMs < WARN_AHEAD_MS) {
      this.#log.warn(
        "the certificate expires soon; make a new one with npm run certificate",
        until,
      );
    }
    if (((findStat(key)?.mode ?? 0) & 0o007) !== 0) {
      this.#log.warn("the key of the certificate can be read by others; restrict its permissions", {
        key,
      });
    }
  }

  #readStamp(): string {
    return [this.#files.cert, this.#files.key]
      .map(findStat)
      .map((stats) => (stats ? `${stats.ino} ${stats.size} ${stats.mtimeMs}` : "absent"))
      .join(", ");
  }
}

function load(files: TlsFiles): Loaded {
  const cert = readPem(files, "cert");
  const key = readPem(files, "key");
  const [leaf, ...rest] = parseCertificates(cert, files);
  if (!leaf) throw unusable(files, "cert", "contains no certificate in PEM form");
  if (!leaf.checkPrivateKey(parseKey(key, files))) {
    throw unusable(files, "key", `is not the key of the certificate in ${files.cert}`);
  }
  return { cert, key, leaf, authority: rest.find((each) => each.ca && each.checkIssued(each)) };
}

function readPem(files: TlsFiles, name: keyof TlsFiles): string {
  try {
    return readFileSync(files[name], "utf8");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const reason = code === "ENOENT" ? "does not exist" : `cannot be read (${code})`;
    throw unusable(files, name, reason);
  }
}

function parseCertificates(text: string, files: TlsFiles): X509Certificate[] {
  try {
    return [...text.matchAll(PEM_BLOCK)].map(([pem]) => new X509Certificate(pem));
  } catch {
    throw unusable(files, "cert", "contains a damaged certificate");
  }
}

function parseKey(text: string, files: TlsFiles): KeyObject {
  try {
    return createPrivateKey(text);
  } catch {
    const isLocked = text.includes("ENCRYPTED");
    const reason = isLocked ? "is protected by a passphrase; store it without" : "contains no key";
    throw unusable(files, "key", reason);
  }
}

function unusable(files: TlsFiles, name: keyof TlsFiles, reason: string): MantelError {
  const fix = "make a pair with npm run certificate, or remove server.tls from the config";
  return new MantelError(
    "invalid",
    `server.tls.${name} is ${files[name]}, which ${reason}; ${fix}`,
  );
}
