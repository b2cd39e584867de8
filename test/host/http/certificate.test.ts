import assert from "node:assert/strict";
import { createPrivateKey } from "node:crypto";
import { chmod, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { test } from "node:test";
import { ServerCertificate } from "../../../host/http/certificate.ts";
import { collectedLog } from "../../helpers/collected-log.ts";
import { until } from "../../helpers/until.ts";
import { writtenPair, type WrittenPair } from "./tls-pair.ts";

test("a valid certificate and key are used without a message", async (t) => {
  const files = await writtenPair(t);
  const log = collectedLog();

  const certificate = new ServerCertificate(files, log);

  assert.match(certificate.pair.cert, /^-----BEGIN CERTIFICATE-----/);
  assert.equal(certificate.authority?.toString(), files.ca);
  assert.deepEqual(log.records, []);
});

const FAULTS: Record<string, [(pair: WrittenPair) => Promise<unknown>, RegExp]> = {
  "an absent certificate": [
    ({ cert }) => rm(cert),
    /server\.tls\.cert is \S+cert\.pem, which does not exist; make/,
  ],
  "an absent key": [
    ({ key }) => rm(key),
    /server\.tls\.key is \S+key\.pem, which does not exist; make/,
  ],
  "a key of another certificate": [
    async ({ key, rewrite }) => {
      const other = await readFile(key);
      await rewrite();
      await writeFile(key, other);
    },
    /which is not the key of the certificate in \S+cert\.pem/,
  ],
  "a file without a certificate": [
    ({ cert }) => writeFile(cert, "hello"),
    /contains no certificate/,
  ],
  "a damaged certificate": [
    ({ cert }) => writeFile(cert, "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"),
    /contains a damaged certificate/,
  ],
  "a file without a key": [({ key }) => writeFile(key, "hello"), /which contains no key/],
  "a key with a passphrase": [
    async ({ key }) => {
      const locked = createPrivateKey(await readFile(key)).export({
        type: "pkcs8",
        format: "pem",
        cipher: "aes-256-cbc",
        passphrase: "x",
      });
      await writeFile(key, locked);
    },
    /is protected by a passphrase; store it without/,
  ],
};
for (const [name, [spoil, message]] of Object.entries(FAULTS)) {
  test(`${name} is reported in a sentence with a fix`, async (t) => {
    const files = await writtenPair(t);
    await spoil(files);

    assert.throws(() => new ServerCertificate(files, collectedLog()), { code: "invalid", message });
  });
}

for (const [name, daysAgo, level, sentence] of [
  ["has expired", 830, "error", /has expired; make a new one/],
  ["expires soon", 810, "warn", /expires soon/],
  ["is not valid yet", -3, "error", /not valid yet; check the clock/],
] as const) {
  test(`a certificate that ${name} is used, with a log record`, async (t) => {
    const files = await writtenPair(t);
    await files.rewrite(daysAgo);
    const log = collectedLog();

    const certificate = new ServerCertificate(files, log);

    assert.ok(certificate.pair.key);
    assert.deepEqual(
      log.records.map((record) => [record.level, sentence.test(record.sentence)]),
      [[level, true]],
    );
  });
}

test("a key that other users can read is reported", async (t) => {
  const files = await writtenPair(t);
  await chmod(files.key, 0o644);
  const log = collectedLog();

  const certificate = new ServerCertificate(files, log);

  assert.ok(certificate.pair.key);
  assert.match(log.records[0]?.sentence ?? "", /can be read by others/);
});

test("changed certificate files are used if valid and ignored otherwise", async (t) => {
  const files = await writtenPair(t);
  const log = collectedLog();
  const certificate = new ServerCertificate(files, log);
  const first = certificate.pair;

  await writeFile(files.cert, "half of");
  await until(() => !certificate.renew() && log.records.length === 1, { withinMs: 5_000 });
  const meanwhile = certificate.pair;
  await files.rewrite();
  await until(() => certificate.renew(), { withinMs: 5_000 });

  assert.deepEqual(meanwhile, first);
  assert.notDeepEqual(certificate.pair, first);
  assert.deepEqual(
    log.records.map(({ level }) => level),
    ["error", "info"],
  );
});

test("unreadable certificate files keep the current pair in use", async (t) => {
  const files = await writtenPair(t);
  const log = collectedLog();
  const certificate = new ServerCertificate(files, log);
  const folder = dirname(files.cert);

  await rename(folder, `${folder}-gone`);
  await writeFile(folder, "in its place"); // below a file there is nothing to look at (ENOTDIR)
  await until(() => !certificate.renew() && log.records.length === 1, { withinMs: 5_000 });
  await rm(folder);
  await rename(`${folder}-gone`, folder);

  assert.ok(certificate.pair.key);
  assert.match(log.records[0]?.sentence ?? "", /invalid new certificate; keeping the previous one/);
});
