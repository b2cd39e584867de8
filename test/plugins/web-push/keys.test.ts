import assert from "node:assert/strict";
import { createECDH } from "node:crypto";
import { test } from "node:test";
import { openKeys } from "../../../plugins/web-push/keys.ts";

/** A storage in memory that holds a value. */
function storageWith(value: unknown) {
  const values = new Map([["keys", value]]);
  return {
    get: async (key: string) => values.get(key),
    set: async (key: string, next: unknown) => void values.set(key, next),
  };
}

const bytesOf = (key: string): Buffer => Buffer.from(key, "base64url");

test("new keys have their full length, and are the same at the next start", async () => {
  const storage = storageWith(undefined);

  const keys = await openKeys(storage);

  assert.deepEqual(
    [keys.publicKey, keys.privateKey].map((key) => bytesOf(key).length),
    [65, 32],
  );
  assert.deepEqual(await openKeys(storage), keys);
});

test("a stored key without its first zero byte gets it back, since signing needs 32 bytes", async () => {
  const pair = createECDH("prime256v1");
  pair.setPrivateKey(Buffer.alloc(31, 7));
  const short = {
    publicKey: pair.getPublicKey("base64url"),
    privateKey: pair.getPrivateKey("base64url"),
  };
  assert.equal(bytesOf(short.privateKey).length, 31);

  const keys = await openKeys(storageWith(short));

  assert.deepEqual([...bytesOf(keys.privateKey)], [0, ...Buffer.alloc(31, 7)]);
  assert.equal(keys.publicKey, short.publicKey);
});
