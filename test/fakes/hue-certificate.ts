import { createHash, generateKeyPairSync, randomBytes, sign, X509Certificate } from "node:crypto";
import {
  bits,
  identifier,
  integer,
  sequence,
  set,
  tagged,
  text,
  time,
} from "../../scripts/certificate/der.ts";

const ECDSA_WITH_SHA256 = sequence(identifier("1.2.840.10045.4.3.2"));
const COMMON_NAME = identifier("2.5.4.3");
const DAY_MS = 24 * 60 * 60 * 1_000;

/** A certificate as a bridge makes it for itself: signed by itself, its id as common name, no other name. */
export function bridgeCertificate(id: string): { cert: string; key: string; fingerprint: string } {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const name = sequence(set(sequence(COMMON_NAME, text(id))));
  const content = sequence(
    tagged(0, integer(Buffer.from([2]))),
    integer(Buffer.concat([Buffer.of(1), randomBytes(7)])), // DER has no zeros in front
    ECDSA_WITH_SHA256,
    name,
    sequence(time(new Date(Date.now() - DAY_MS)), time(new Date(Date.now() + 365 * DAY_MS))),
    name,
    publicKey.export({ type: "spki", format: "der" }),
  );
  const signature = bits(sign("sha256", content, privateKey));
  const { raw } = new X509Certificate(sequence(content, ECDSA_WITH_SHA256, signature));
  return {
    cert: new X509Certificate(raw).toString(),
    key: privateKey.export({ type: "pkcs8", format: "pem" }) as string,
    fingerprint: createHash("sha256").update(raw).digest("hex"),
  };
}
