import { createECDH } from "node:crypto";
import type { Storage } from "@mantel/plugin-sdk";

const KEY = "keys";
/** The bytes of a private key of P-256. */
const LENGTH = 32;

/** The key pair by which push services recognize this home (RFC 8292), base64url. */
export interface Keys {
  readonly publicKey: string;
  readonly privateKey: string;
}

/** The stored keys; new ones at the first start. Other keys would end all subscriptions. */
export async function openKeys(storage: Pick<Storage, "get" | "set">): Promise<Keys> {
  const stored = (await storage.get(KEY)) as Keys | undefined;
  if (stored) return { ...stored, privateKey: atFullLength(stored.privateKey) };
  const pair = createECDH("prime256v1");
  const keys = {
    publicKey: pair.generateKeys("base64url"),
    privateKey: atFullLength(pair.getPrivateKey("base64url")),
  };
  await storage.set(KEY, keys);
  return keys;
}

/** Node leaves out the zero bytes with which one key in 256 begins, and signing needs them. */
function atFullLength(key: string): string {
  const bytes = Buffer.from(key, "base64url");
  return Buffer.concat([Buffer.alloc(LENGTH - bytes.length), bytes]).toString("base64url");
}
