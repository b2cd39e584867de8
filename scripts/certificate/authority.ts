import {
  createHash,
  createPrivateKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign,
  X509Certificate,
} from "node:crypto";
import { isIP } from "node:net";
import {
  bits,
  encode,
  identifier,
  integer,
  octets,
  sequence,
  set,
  tagged,
  text,
  time,
  booleanTrue,
} from "./der.ts";
import { addressBytes, dnsName, IP_ADDRESS, isPermitted, nameConstraints } from "./names.ts";

const DAY_MS = 24 * 60 * 60 * 1000;
const AUTHORITY_DAYS = 3_650;
/** The longest validity in days that Apple's systems accept for a manually added authority. */
const SERVER_DAYS = 825;
/** Certificates start in the past, because clocks differ and a future certificate is refused. */
const BACKDATED_MS = DAY_MS;

/** Object identifiers of RFC 5280 and RFC 5758. */
const ECDSA_WITH_SHA256 = sequence(identifier("1.2.840.10045.4.3.2"));
const COMMON_NAME = "2.5.4.3";
const EXTENSIONS = {
  subjectKeyIdentifier: "2.5.29.14",
  keyUsage: "2.5.29.15",
  subjectAltName: "2.5.29.17",
  basicConstraints: "2.5.29.19",
  nameConstraints: "2.5.29.30",
  authorityKeyIdentifier: "2.5.29.35",
  extKeyUsage: "2.5.29.37",
} as const;
const SERVER_AUTH = "1.3.6.1.5.5.7.3.1";
const MAY_SIGN_CERTIFICATES = bits(Buffer.from([0b0000_0110]), 1);
const MAY_SIGN = bits(Buffer.from([0b1000_0000]), 7);

/** A certificate and its key, PEM. */
export interface Pair {
  readonly cert: string;
  readonly key: string;
}

/** The certificate authority of one home. */
export interface Authority {
  readonly cert: X509Certificate;
  readonly key: KeyObject;
}

/**
 * Creates an authority that is limited to private addresses, local names and `names`. A stolen key therefore cannot
 * sign certificates for public sites (name constraints, RFC 5280, 4.2.1.10).
 */
export function makeAuthority(names: readonly string[], at: Date): Pair {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const name = commonName(`Mantel home ${at.toISOString().slice(0, 10)}`);
  return signed(
    { issuer: name, subject: name, publicKey, ...validity(at, AUTHORITY_DAYS) },
    [
      extension("basicConstraints", sequence(booleanTrue, integer(Buffer.alloc(1))), "critical"),
      extension("keyUsage", MAY_SIGN_CERTIFICATES, "critical"),
      extension("nameConstraints", nameConstraints(names), "critical"),
      extension("subjectKeyIdentifier", octets(keyIdentifier(publicKey))),
    ],
    { signingKey: privateKey, privateKey },
  );
}

/** Creates a server certificate for host names and addresses, followed by the authority's own certificate. */
export function makeServerPair(by: Authority, names: readonly string[], at: Date): Pair {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const issuer = subjectOf(by.cert);
  const { cert, key } = signed(
    { issuer, subject: commonName("Mantel"), publicKey, ...validity(at, SERVER_DAYS) },
    [
      extension("basicConstraints", sequence(), "critical"),
      extension("keyUsage", MAY_SIGN, "critical"),
      extension("extKeyUsage", sequence(identifier(SERVER_AUTH))),
      extension("subjectAltName", sequence(...names.map(generalName))),
      extension("subjectKeyIdentifier", octets(keyIdentifier(publicKey))),
      extension("authorityKeyIdentifier", sequence(encode(0x80, keyIdentifier(by.cert.publicKey)))),
    ],
    { signingKey: by.key, privateKey },
  );
  return { cert: cert + by.cert.toString(), key };
}

/** Parses the files of `makeAuthority`. */
export function readAuthority({ cert, key }: Pair): Authority {
  return { cert: new X509Certificate(cert), key: createPrivateKey(key) };
}

/** The names that this authority's constraints do not permit. */
export function forbiddenNames({ cert }: Authority, names: readonly string[]): string[] {
  return names.filter((name) => !isPermitted(name, cert.raw));
}

interface Content {
  readonly issuer: Buffer;
  readonly subject: Buffer;
  readonly publicKey: KeyObject;
  readonly notBefore: Date;
  readonly notAfter: Date;
}

/** Creates a signed certificate (RFC 5280, 4.1). */
function signed(
  { issuer, subject, publicKey, notBefore, notAfter }: Content,
  extensions: readonly Buffer[],
  { signingKey, privateKey }: { signingKey: KeyObject; privateKey: KeyObject },
): Pair {
  const content = sequence(
    tagged(0, integer(Buffer.from([2]))), // version 3
    integer(serialNumber()),
    ECDSA_WITH_SHA256,
    issuer,
    sequence(time(notBefore), time(notAfter)),
    subject,
    publicKey.export({ type: "spki", format: "der" }),
    tagged(3, sequence(...extensions)),
  );
  const signature = bits(sign("sha256", content, signingKey));
  const cert = new X509Certificate(sequence(content, ECDSA_WITH_SHA256, signature));
  const key = privateKey.export({ type: "pkcs8", format: "pem" }) as string;
  return { cert: cert.toString(), key };
}

function extension(name: keyof typeof EXTENSIONS, value: Buffer, critical?: "critical"): Buffer {
  return sequence(identifier(EXTENSIONS[name]), ...(critical ? [booleanTrue] : []), octets(value));
}

function commonName(name: string): Buffer {
  return sequence(set(sequence(identifier(COMMON_NAME), text(name))));
}

/** The subject of an authority of this home, which consists of a common name only. */
function subjectOf(cert: X509Certificate): Buffer {
  return commonName(cert.subject.replace(/^CN=/, ""));
}

function generalName(name: string): Buffer {
  return isIP(name) === 0 ? dnsName(name) : encode(IP_ADDRESS, addressBytes(name));
}

/** The key identifier (RFC 5280, 4.2.1.2): the hash of the public key, the last bytes of its structure. */
function keyIdentifier(publicKey: KeyObject): Buffer {
  const point = publicKey.export({ type: "spki", format: "der" }).subarray(-65);
  return createHash("sha1").update(point).digest();
}

/** A random serial number: positive and in the shortest encoding. */
function serialNumber(): Buffer {
  const bytes = randomBytes(16);
  bytes[0] = ((bytes[0] ?? 0) & 0x7f) | 0x40;
  return bytes;
}

function validity(at: Date, days: number): { notBefore: Date; notAfter: Date } {
  const notBefore = new Date(at.getTime() - BACKDATED_MS);
  return { notBefore, notAfter: new Date(notBefore.getTime() + days * DAY_MS) };
}
