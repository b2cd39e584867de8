import { createECDH } from "node:crypto";
import type { Storage } from "@mantel/plugin-sdk";

const KEY = "keys";

/** The key pair by which push services recognize this home (RFC 8292), base64url. */
export interface Keys {
  readonly publicKey: string;
  readonly privateKey: string;
}

/** The stored keys; new ones at the first start. Other keys would end all subscriptions. */
export async function openKeys(storage: Storage): Promise<Keys> {
  const stored = (await storage.get(KEY)) as Keys | undefined;
  if (stored) return stored;
  const pair = createECDH("prime256v1");
  const keys = {
    publicKey: pair.generateKeys("base64url"),
    privateKey: pair.getPrivateKey("base64url"),
  };
  await storage.set(KEY, keys);
  return keys;
}
