import assert from "node:assert/strict";
import { test } from "node:test";
import {
  hashPassword,
  isPasswordHash,
  isSameText,
  verifyPassword,
} from "../../plugin-sdk/password-hash.ts";

/** The key of "secret" and the salt 0…15, computed by Python's hashlib.scrypt. */
const KNOWN =
  "$scrypt$ln=14,r=8,p=1$AAECAwQFBgcICQoLDA0ODw$lUTkiXnaPIlt-39_W8AV-zIOgQ-DcviNZtmSHaWiqmU";

test("a password matches its hash, and another one does not", async () => {
  const stored = await hashPassword("secret");

  assert.deepEqual(
    [await verifyPassword("secret", stored), await verifyPassword("Secret", stored)],
    [true, false],
  );
  assert.ok(isPasswordHash(stored));
  assert.doesNotMatch(stored, /secret/);
});

test("two hashes of one password differ, because each has its own salt", async () => {
  assert.notEqual(await hashPassword("secret"), await hashPassword("secret"));
});

test("a hash has the parameters and the format of other programs", async () => {
  assert.equal(await verifyPassword("secret", KNOWN), true);
  assert.equal(await verifyPassword("other", KNOWN), false);
});

for (const text of [
  "secret",
  "",
  ` ${KNOWN}`,
  `${KNOWN}=`,
  KNOWN.slice(0, -1),
  KNOWN.replace("ln=14", "ln=15"),
  KNOWN.replace("$AAEC", "$AAE"),
]) {
  test(`a text that is not a hash is a password in plain text: ${JSON.stringify(text)}`, async () => {
    assert.equal(isPasswordHash(text), false);
    assert.equal(await verifyPassword(text, text), true);
    assert.equal(await verifyPassword("secret!", text), false);
  });
}

test("texts of any length can be compared", () => {
  assert.equal(isSameText("", ""), true);
  assert.equal(isSameText("ünïcödé", "ünïcödé"), true);
  assert.equal(isSameText("short", "longer text"), false);
  assert.equal(isSameText("a", "b"), false);
});
