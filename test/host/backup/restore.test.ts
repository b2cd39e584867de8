import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { cp, mkdir, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { test, type TestContext } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { brotliDecompressSync } from "node:zlib";
import { MantelError } from "@mantel/plugin-sdk/errors";
import * as fc from "fast-check";
import { pack } from "../../../host/backup/archive.ts";
import { readContents } from "../../../host/backup/contents.ts";
import { openRestore } from "../../../host/backup/restore.ts";
import {
  finishReplacement,
  newStagingName,
  planReplacement,
  stageReplacement,
} from "../../../host/documents/restore-transaction.ts";
import { compileEntry } from "../../../host/modules/build/runtime.ts";
import { collectedLog } from "../../helpers/collected-log.ts";
import { emptyFolder } from "../../helpers/folder.ts";
import {
  type Entries,
  forgedBackup,
  packedText,
  sealedOfVersion1,
} from "../../helpers/forged-backup.ts";
import { readTree } from "../../helpers/read-tree.ts";

const PASSPHRASE = "correct horse battery";
const LAYOUT = resolve(import.meta.dirname, "../../../layouts/default.json");
const REVOKED = '{"revoked":{"jti":"1","revokedAt":"2026-11-20T09:00:00.000Z"}}';
const ISSUED =
  '{"issued":{"name":"a","jti":"1","scope":["admin"],"issuedAt":"2026-11-20T09:00:00.000Z","expiresAt":"2027-11-20T09:00:00.000Z"}}';
const KEYS = (kid: string) => `{"keys":[{"kid":"${kid}","secret":"${"A".repeat(43)}"}]}`;

interface Options {
  readonly passphrase?: string;
  readonly credentials?: boolean;
}

/** Checks a backup, and has the next start put it in place. */
async function plan(
  dataFolder: string,
  packed: Buffer,
  { passphrase, credentials = false }: Options = {},
) {
  const opened = await openRestore({ packed, name: "a file", passphrase, credentials });
  const staging = newStagingName();
  await stageReplacement(dataFolder, staging, await opened.replacementIn(dataFolder));
  await planReplacement(dataFolder, staging);
  return opened.summary;
}

async function restore(dataFolder: string, packed: Buffer, options?: Options) {
  const summary = await plan(dataFolder, packed, options);
  assert.ok(await finishReplacement(dataFolder));
  return summary;
}

/** A folder with a data folder in it, and something beside that. */
async function home(t: TestContext, files: Readonly<Record<string, string>> = {}) {
  const outside = await emptyFolder(t);
  const data = join(outside, "data");
  await mkdir(join(outside, "plugins"), { recursive: true });
  await writeFile(join(outside, "plugins/index.ts"), "code");
  await mkdir(data);
  await cp(LAYOUT, join(data, "layout.json"));
  for (const [path, text] of Object.entries(files)) {
    await mkdir(join(data, path, ".."), { recursive: true });
    await writeFile(join(data, path), text);
  }
  return { data, outside };
}

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

test("a hundred corrupted backups are refused or restored exactly", async (t) => {
  const { data: source } = await home(t, { "calendars/a.ics": "a", "config.json": "{}" });
  const packed = await packedHome(source);
  const wanted = await readTree(source);
  const { data, outside } = await home(t, { "config.json": '{"ui":{"theme":"dark"}}' });
  const before = await readTree(outside);
  const bytes = fc.uint8Array({ minLength: 1, maxLength: 40 });
  const place = fc.nat({ max: packed.length - 1 });
  const corrupted = fc.oneof(
    fc.tuple(place, fc.integer({ min: 1, max: 255 })).map(([at, xor]) => {
      const copy = Buffer.from(packed);
      copy.writeUInt8(copy.readUInt8(at) ^ xor, at);
      return copy;
    }),
    place.map((at) => packed.subarray(0, at)),
    fc.tuple(place, bytes).map(([at, more]) => {
      return Buffer.concat([packed.subarray(0, at), more, packed.subarray(at)]);
    }),
    fc.tuple(place, fc.nat({ max: 200 })).map(([at, length]) => {
      return Buffer.concat([packed.subarray(0, at), packed.subarray(at + length)]);
    }),
    bytes.map((more) => Buffer.concat([packed, more])),
  );

  let accepted = 0;
  const property = fc.asyncProperty(corrupted, async (file) => {
    if (!(await isAccepted(data, file))) {
      assert.deepEqual(await readTree(outside), before);
      return;
    }
    accepted += 1;
    assert.deepEqual(await withoutKept(data), wanted);
    await assertUntouched(outside, before);
    await resetTo(data, before);
  });
  await examples(t, property, 100);
  t.diagnostic(`${accepted} of them were what they had been`);
});

test("a hundred modified and re-signed backups change only permitted files", async (t) => {
  const { data: source } = await home(t, { "calendars/a.ics": "a", "config.json": "{}" });
  const text = brotliDecompressSync(await packedHome(source)).toString();
  const content = text.replace(/,"sha256":.*$/, "}");
  const { data, outside } = await home(t, { "keys.json": KEYS("here"), "tokens.jsonl": REVOKED });
  const before = await readTree(outside);
  const odd = fc.oneof(
    fc.string({ maxLength: 20 }),
    fc.constantFrom(...["../", "\\n/../", ".replacement/plan.json", "tokens.jsonl", "keys.json"]),
    fc.constantFrom(...["{", "}", "[", '"', ",", ":", "null", "__proto__", '"a":"",', "\\ud800"]),
  );
  const place = fc.nat({ max: content.length - 2 });
  const changed = fc.oneof(
    fc.tuple(place, fc.nat({ max: 30 }), odd).map(([at, length, more]) => {
      return content.slice(0, at) + more + content.slice(at + length, -1) + content.slice(-1);
    }),
    odd.map((name) => content.replace("calendars/a.ics", () => name)),
    fc.tuple(odd, odd).map(([a, b]) => content.replace("calendars/a.ics", () => `${a}/${b}`)),
  );

  const property = fc.asyncProperty(changed, async (each) => {
    if (await isAccepted(data, packedText(each))) {
      const { "keys.json": keys, "tokens.jsonl": tokens } = await withoutKept(data);
      assert.deepEqual([keys, tokens], [KEYS("here"), REVOKED]);
      await assertUntouched(outside, before);
      await resetTo(data, before);
    }
    assert.deepEqual(await readTree(outside), before);
  });
  await examples(t, property, 100);
});

test("a restore killed at any moment leaves either the old home or the new one", async (t) => {
  const many = Array.from({ length: 60 }, (_, at) => `calendars/${at}.ics`);
  const { data: source } = await home(t, Object.fromEntries(many.map((path) => [path, "new"])));
  const file = join(source, "../home.backup");
  await writeFile(file, await packedHome(source));
  const next = await readTree(source);
  const entry = resolve(import.meta.dirname, "../../helpers/restore-program.ts");
  const program = await compileEntry(await emptyFolder(t), { name: "restore", entry });
  const old = Object.fromEntries(many.map((path) => [path, "old"]));
  const run = async (data: string, killAfterMs?: number) => {
    const child = spawn(process.execPath, [program, data, file], { stdio: "inherit" });
    const ended = once(child, "exit");
    if (killAfterMs !== undefined) {
      const names = async () => (await readdir(data)).some((name) => name.startsWith("."));
      while (child.exitCode === null && !(await names())) await delay(1);
      await delay(killAfterMs);
      child.kill("SIGKILL");
    }
    await ended;
  };
  const whole = await home(t, old);
  const startedAt = performance.now();
  await run(whole.data);
  assert.deepEqual(await withoutKept(whole.data), next);
  const takesMs = performance.now() - startedAt;

  const ends = { old: 0, new: 0 };
  for (let round = 0; round < 12; round++) {
    const { data, outside } = await home(t, old);
    const before = await readTree(data);
    await run(data, (takesMs * round) / 24);
    await finishReplacement(data);

    const isNew = (await readdir(data)).some((name) => name.startsWith("before-restore-"));
    assert.deepEqual(await withoutKept(data), isNew ? next : before);
    ends[isNew ? "new" : "old"] += 1;
    await rm(outside, { recursive: true });
  }
  t.diagnostic(`killed at 12 moments of ${Math.round(takesMs)} ms: ${JSON.stringify(ends)}`);
});

async function packedHome(data: string): Promise<Buffer> {
  const { files, secrets } = await readContents(data, false);
  return pack({ madeAt: "2026-11-20T09:00:00.000Z", mantel: "0.1.0", files, secrets });
}

/** True for a backup that was put in place; any refusal has a code. */
async function isAccepted(data: string, packed: Buffer): Promise<boolean> {
  try {
    await restore(data, packed);
    return true;
  } catch (error) {
    assert.ok(error instanceof MantelError, String((error as Error).stack));
    return false;
  }
}

/** The files of a data folder but for those that a restore has set aside. */
async function withoutKept(data: string): Promise<Record<string, string>> {
  const tree = Object.entries(await readTree(data));
  return Object.fromEntries(tree.filter(([path]) => !path.startsWith("before-restore-")));
}

async function assertUntouched(outside: string, before: Record<string, string>): Promise<void> {
  const beside = (tree: Record<string, string>) =>
    Object.entries(tree).filter(([path]) => !path.startsWith("data/"));
  assert.deepEqual(beside(await readTree(outside)), beside(before));
}

async function resetTo(data: string, before: Record<string, string>): Promise<void> {
  await rm(data, { recursive: true });
  for (const [path, text] of Object.entries(before)) {
    if (!path.startsWith("data/")) continue;
    const file = join(data, "..", path);
    await mkdir(join(file, ".."), { recursive: true });
    await writeFile(file, text, "latin1");
  }
}

async function examples(
  t: TestContext,
  property: fc.IAsyncProperty<[unknown]>,
  numRuns: number,
): Promise<void> {
  const seed = Number(process.env["FUZZ_SEED"] ?? Math.floor(Math.random() * 2 ** 31));
  t.diagnostic(`FUZZ_SEED=${seed}`);
  await fc.assert(property, { seed, numRuns });
}
