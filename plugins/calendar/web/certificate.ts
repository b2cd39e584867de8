import { once } from "node:events";
import { readFile } from "node:fs/promises";
import type { RequestOptions } from "node:http";
import { isIP, type LookupFunction } from "node:net";
import { basename } from "node:path";
import { connect, rootCertificates, type TLSSocket } from "node:tls";
import { MantelError, sentence, type Sentence } from "@mantel/plugin-sdk";

/** The certificate of a server that no known authority has signed. */
export interface CertificateTrust {
  /** The SHA-256 fingerprint of the only certificate to accept, as in `AB:CD:…`. */
  readonly fingerprint?: string | undefined;
  /** The path of an authority's certificate in PEM, accepted besides the known ones. */
  readonly authorityFile?: string | undefined;
}

interface SecureRequest {
  readonly trust?: CertificateTrust | undefined;
  readonly signal: AbortSignal;
}

/**
 * The options of an HTTPS request to a server with its own certificate. A pinned certificate is compared before anything
 * is sent.
 * @throws MantelError `invalid` with the server's fingerprint if it is another one
 */
export async function trustedConnection(
  url: URL,
  lookup: LookupFunction,
  { trust = {}, signal }: SecureRequest,
): Promise<Pick<RequestOptions, "agent" | "createConnection"> & { readonly ca?: string[] }> {
  const { fingerprint, authorityFile } = trust;
  if (fingerprint === undefined) {
    return authorityFile === undefined
      ? {}
      : { ca: [...rootCertificates, await pem(authorityFile)] };
  }
  const socket = await handshake(url, lookup, signal);
  const found = socket.getPeerCertificate().fingerprint256;
  socket.on("error", () => {}); // the request reports it
  if (normal(found) === normal(fingerprint)) {
    return { agent: undefined, createConnection: () => socket }; // an agent makes connections itself
  }
  socket.destroy();
  const told = sentence(
    "other_fingerprint",
    "the server's certificate has another fingerprint than the accepted one: {fingerprint}. Accept it only if the certificate was renewed there",
    { fingerprint: found },
  );
  throw new UntrustedCertificate(told, found);
}

/** Thrown for a server whose certificate is not trusted; the user may accept it. */
export class UntrustedCertificate extends MantelError {
  /** In SHA-256. */
  readonly fingerprint: string;

  constructor(told: Sentence, fingerprint: string) {
    super("invalid", told);
    this.fingerprint = fingerprint;
  }
}

/** The fingerprint in an error about a certificate that the user may accept. */
export function fingerprintIn(error: unknown): string | undefined {
  return error instanceof UntrustedCertificate ? error.fingerprint : undefined;
}

async function pem(path: string): Promise<string> {
  const text = await readFile(path, "utf8").catch(() => "");
  if (text.includes("-----BEGIN CERTIFICATE-----")) return text;
  throw new MantelError(
    "invalid",
    sentence(
      "no_certificate",
      "caFile: {file} in the calendars folder has no certificate in PEM format",
      { file: basename(path) },
    ),
  );
}

/** The SHA-256 fingerprint of a server's certificate; `undefined` if the connection fails. */
export async function fingerprintOf(
  url: URL,
  lookup: LookupFunction,
  signal: AbortSignal,
): Promise<string | undefined> {
  try {
    const socket = await handshake(url, lookup, signal);
    const { fingerprint256 } = socket.getPeerCertificate();
    socket.destroy();
    return fingerprint256;
  } catch {
    return undefined;
  }
}

/** Connects to any server, whatever its certificate is. Sends nothing. */
async function handshake(
  url: URL,
  lookup: LookupFunction,
  signal: AbortSignal,
): Promise<TLSSocket> {
  const host = url.hostname.replace(/^\[(.*)\]$/, "$1");
  const port = Number(url.port || 443);
  const named = isIP(host) === 0 ? { servername: host } : {};
  const socket = connect({ host, port, lookup, rejectUnauthorized: false, ...named });
  const abort = () => socket.destroy();
  signal.addEventListener("abort", abort, { once: true });
  try {
    await once(socket, "secureConnect", { signal });
    return socket;
  } catch (error) {
    socket.destroy();
    throw error;
  } finally {
    signal.removeEventListener("abort", abort);
  }
}

const normal = (fingerprint = "") => fingerprint.replaceAll(/[^0-9a-f]/gi, "").toUpperCase();
