import assert from "node:assert/strict";
import { cp, mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { MantelError } from "@mantel/plugin-sdk/errors";
import { readContents } from "../../../host/backup/contents.ts";
import { finishReplacement, newStagingName } from "../../../host/documents/restore-transaction.ts";
import { collectedLog } from "../../helpers/collected-log.ts";
import { emptyFolder } from "../../helpers/folder.ts";
import { type Entries, forgedBackup, sealedOfVersion1 } from "../../helpers/forged-backup.ts";
import { readTree } from "../../helpers/read-tree.ts";
import { home, KEYS, LAYOUT, packedHome, plan, restore } from "./restored-home.ts";

const PASSPHRASE = "correct horse battery";
const REVOKED = '{"revoked":{"jti":"1","revokedAt":"2026-11-20T09:00:00.000Z"}}';
const ISSUED =
  '{"issued":{"name":"a","jti":"1","scope":["admin"],"issuedAt":"2026-11-20T09:00:00.000Z","expiresAt":"2027-11-20T09:00:00.000Z"}}';

const refused = (pattern: RegExp) => (error: unknown) => {
  assert.ok(error instanceof MantelError && error.code === "invalid", String(error));
  assert.match(error.message, pattern);
  return true;
};

test("keys, tokens and consents stay unchanged unless they are requested with the passphrase", async (t) => {
  const here = {
    "keys.json": KEYS("here"),
    "tokens.jsonl": `${ISSUED}\n${REVOKED}\n`,
    "consents.json": '{"version":1,"granted":{"here":[]}}',
    "secrets.json": "{}",
  };
  const secrets: Entries = [
    ["keys.json", KEYS("backup")],
    ["tokens.jsonl", `${ISSUED}\n{"issu`],
    ["consents.json", '{"version":1,"granted":{}}'],
    ["secrets.json", '{"mqtt":{"password":"old"}}'],
  ];
  const feeds = '{"version":1,"feeds":[]}';
  const packed = forgedBackup(
    [["calendar-feeds.json", feeds]],
    sealedOfVersion1(secrets, PASSPHRASE),
  );
  const { data } = await home(t, here);
  const read = (path: string) => readFile(join(data, path), "utf8");

  const without = await restore(data, packed);
  assert.deepEqual(without.leftOut, ["calendar-feeds.json", "secrets"]);
  for (const [path, text] of Object.entries(here)) assert.equal(await read(path), text);
  await assert.rejects(read("calendar-feeds.json"));

  const withSecrets = await restore(data, packed, { passphrase: PASSPHRASE });
  assert.deepEqual(withSecrets.leftOut, [
    "calendar-feeds.json",
    "keys.json",
    "tokens.jsonl",
    "consents.json",
  ]);
  assert.match(await read("secrets.json"), /old/);
  for (const path of ["keys.json", "tokens.jsonl", "consents.json"] as const) {
    assert.equal(await read(path), here[path]);
  }

  await plan(data, packed, { passphrase: PASSPHRASE, credentials: true });
  const later = REVOKED.replace('"1"', '"2"');
  await writeFile(join(data, "tokens.jsonl"), `${ISSUED}\n${REVOKED}\n${later}\n`);
  await finishReplacement(data);
  assert.equal(await read("keys.json"), KEYS("backup"));
  assert.deepEqual((await read("tokens.jsonl")).trim().split("\n"), [ISSUED, REVOKED, later]);
  const asked = plan(data, packed, { credentials: true });
  await assert.rejects(asked, refused(/only with the passphrase/));
});

test("each document is checked by its schema, and a deep one before it is parsed", async (t) => {
  const { data } = await home(t);
  const before = await readTree(data);
  const wrong: Entries = [
    ["config.json", '{"nothing":{"of":"this"},"server":{"proxies":7}}'],
    ["scenes.json", '{"version":1}'],
    ["devices.json", '{"version":1,"ids":{"../x":{}}}'],
    ["device-wishes.json", '{"version":1,"devices":[]}'],
    ["readings.json", '{"version":1,"fields":{"a":"b"}}'],
    ["layout-history/1.json", "{}"],
    ["scenes.json", '{"version":9}'],
    ["scenes.json", "["],
    ["scenes.json", "[".repeat(2 ** 20)],
    ["unknown.json", "[".repeat(2 ** 20)],
    ["unknown.json", `[${"0,".repeat(2 ** 20)}0]`],
  ];

  for (const entry of wrong) {
    await assert.rejects(
      restore(data, forgedBackup([entry])),
      refused(/a file, of Mantel 0\.1\.0/),
    );
  }

  assert.deepEqual(await readTree(data), before);
});

test("damaged consents are reported, in the home and in a backup", async (t) => {
  for (const [damaged, fault] of [
    ['{"version":1}', /consents\.json is invalid: \/granted/],
    ['{"version":1,"granted":{"clock":[{"name":7}]}}', /\/granted\/clock\/0\/name/],
    ['{"version":1,"granted":{"../x":[]}}', /consents\.json is invalid/],
    ['{"version":2,"granted":{}}', /consents\.json has version 2/],
  ] as const) {
    const { data } = await home(t, { "consents.json": damaged });
    const sealed = sealedOfVersion1([["consents.json", damaged]], PASSPHRASE);

    await assert.rejects(readContents(data, true), refused(fault));
    await assert.rejects(
      plan(data, forgedBackup([], sealed), { passphrase: PASSPHRASE, credentials: true }),
      refused(fault),
    );
  }
});

test("a folder with a file .nobackup is neither in a backup nor moved away by a restore", async (t) => {
  const data = await emptyFolder(t);
  await mkdir(join(data, "large/deeper"), { recursive: true });
  await cp(LAYOUT, join(data, "layout.json"));
  await writeFile(join(data, "large/deeper/a.png"), "a picture");
  const { files: before } = await readContents(data, false);
  await writeFile(join(data, "large/.nobackup"), "");

  const { files } = await readContents(data, false);
  await restore(data, await packedHome(data));

  assert.deepEqual([...before.keys()], ["large/deeper/a.png", "layout.json"]);
  assert.deepEqual([...files.keys()], ["layout.json"]);
  assert.equal(await readFile(join(data, "large/deeper/a.png"), "utf8"), "a picture");
});

test("a restore is refused if a folder of the home is a link or something is in the way", async (t) => {
  const { data, outside } = await home(t, { "folder.ics/a": "1" });
  await symlink(join(outside, "plugins"), join(data, "calendars"));
  await symlink("/dev/null", join(data, "note.txt"));
  const before = await readTree(outside);

  const cases: readonly [string, RegExp][] = [
    ["calendars/index.ts", /calendars in the data folder is a link, and .* a folder/],
    ["note.txt", /note\.txt in the data folder is a link, and .* a file/],
    ["folder.ics", /folder\.ics in the data folder is a folder, and .* a file/],
  ];
  for (const [name, message] of cases) {
    await assert.rejects(restore(data, forgedBackup([[name, "pwned"]])), refused(message));
  }

  assert.deepEqual(await readTree(outside), before);
});

test("a link placed by a plugin cancels the whole planned restore", async (t) => {
  const { data, outside } = await home(t, { "keys.json": KEYS("here") });
  const sealed = sealedOfVersion1([["plugins/a/b/keys.json", "pwned"]], PASSPHRASE);
  await plan(data, forgedBackup([["a.ics", "1"]], sealed), { passphrase: PASSPHRASE });
  await mkdir(join(data, "plugins/a"), { recursive: true });
  await symlink("../..", join(data, "plugins/a/b"));
  const log = collectedLog();

  assert.equal(await finishReplacement(data, log), undefined);

  const tree = await readTree(outside);
  assert.equal(tree["data/keys.json"], KEYS("here"));
  assert.deepEqual(
    Object.keys(tree).filter((path) => /a\.ics|before-restore|\.replacement/.test(path)),
    [],
  );
  assert.match(JSON.stringify(log.records), /dropped a planned restore.*is a link/);
});

test("a damaged journal, or one that points outside the data folder, is discarded", async (t) => {
  const { data, outside } = await home(t);
  const before = await readTree(outside);
  const good = { aside: [], files: ["a.ics"], keptIn: "before-restore-1" };
  const journals = [
    "{",
    "[]",
    JSON.stringify({ ...good, keptIn: "../elsewhere" }),
    JSON.stringify({ ...good, aside: ["../plugins/index.ts"] }),
    JSON.stringify({ ...good, files: ["x\n/../../plugins/index.ts"] }),
    JSON.stringify({ ...good, files: ["x\u2028/../tokens.jsonl"] }),
    JSON.stringify({ ...good, united: ["/etc/passwd"] }),
    JSON.stringify({ ...good, files: ["missing.ics"] }),
  ];

  for (const journal of journals) {
    await mkdir(join(data, ".replacement/new"), { recursive: true });
    await writeFile(join(data, ".replacement/new/a.ics"), "1");
    await writeFile(join(data, ".replacement/plan.json"), journal);
    assert.equal(await finishReplacement(data), undefined, journal);
  }

  assert.deepEqual(await readTree(outside), before);
});

test("files of an interrupted restore are removed at the next start", async (t) => {
  const { data } = await home(t);
  const before = await readTree(data);
  await mkdir(join(data, newStagingName(), "new"), { recursive: true });

  assert.equal(await finishReplacement(data), undefined);

  assert.deepEqual(await readTree(data), before);
  assert.deepEqual(await readdir(data), ["layout.json"]);
});
