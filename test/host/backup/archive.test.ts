import assert from "node:assert/strict";
import { test } from "node:test";
import { brotliDecompressSync } from "node:zlib";
import { MantelError } from "@mantel/plugin-sdk/errors";
import { pack, unpack } from "../../../host/backup/archive.ts";
import {
  bomb,
  type Entries,
  forgedBackup,
  HEAD,
  packedText,
  sealedOfVersion1,
} from "../../helpers/forged-backup.ts";

const PASSPHRASE = "correct horse battery";
const HOME = {
  madeAt: "2026-11-20T09:00:00.000Z",
  mantel: "0.1.0",
  files: new Map([["layout.json", Buffer.from("{}")]]),
  secrets: new Map([["keys.json", Buffer.from("a secret")]]),
};

/** The message that refuses a file; any other end fails. */
async function refusalOf(packed: Buffer, passphrase?: string): Promise<string> {
  try {
    await unpack(packed, passphrase, "a file");
  } catch (error) {
    assert.ok(error instanceof MantelError && error.code === "invalid", String(error));
    return error.message;
  }
  throw new assert.AssertionError({ message: "it was accepted" });
}

const NAMES: Readonly<Record<string, string>> = {
  "a line break before a climb": "x\n/../../../../plug/pwn/index.ts",
  "a line separator before a climb": "x\u2028/../tokens.jsonl",
  "a carriage return": "x\r/../tokens.jsonl",
  "a climb": "../pwn.ts",
  "a climb inside": "plugins/../../pwn.ts",
  "an absolute path": "/etc/passwd",
  "an absolute path of another system": "C:\\pwn.ts",
  "a folder itself": "plugins/",
  "an empty name": "",
  "an empty part": "plugins//key.json",
  "the folder it is in": "plugins/./key.json",
  "a NUL": "layout.json\u0000.ts",
  "a backslash": "plugins\\..\\..\\pwn.ts",
  "a dot at the end": "tokens.jsonl.",
  "a blank at the end": "tokens.jsonl ",
  "a blank at the start": " tokens.jsonl",
  "an escape of the terminal": "\u001b[2J.ics",
  "a text that turns direction": "calendars/\u202esci.exe",
  "a character without width": "calendars/a\u200b.ics",
  "wide dots": "\uff0e\uff0e/tokens.jsonl",
  "half a character": "calendars/\ud800.ics",
  "a name of 300 bytes": `calendars/${"a".repeat(300)}`,
  "a name of 250 bytes in few characters": `calendars/${"ü".repeat(125)}`,
  "a path of 2,000 bytes": "a/".repeat(1_000) + "a",
  "seventeen folders": "a/".repeat(17) + "a",
  "the journal of a restore": ".replacement/plan.json",
  "a journal that is being laid": ".replacement-0123456789ab/plan.json",
  "a temporary file": ".layout.json.0123456789ab.tmp",
  "a lock of the host": ".host-1-1.lock",
  "a copy to restore from": "tokens.jsonl.last-good",
  "a copy of the keys": "keys.json.last-good",
  "a damaged copy": "keys.json.damaged-2026",
  "the document before an upgrade": "keys.json.before-version-1",
  "the audit log": "audit.log",
  "a database": "history/history.sqlite",
  "the journal of a database": "history/history.sqlite-wal",
  "compiled code": "cache/runtime-0123456789abcdef.cjs",
  "the cache in another case": "Cache/runtime-0123456789abcdef.cjs",
  "the cache itself": "cache",
  "what an earlier restore has kept": "before-restore-1/tokens.jsonl",
  "the keys in the open": "keys.json",
  "the token register in the open": "tokens.jsonl",
  "the token register in another case": "Tokens.JSONL",
  "the token register by a long s": "token\u017f.jsonl",
  "the consents in the open": "consents.json",
  "passwords in the open": "secrets.json",
  "storage of a plugin in the open": "plugins/hue/pairing.json",
  "storage of a plugin in another case": "Plugins/hue/pairing.json",
  "a key of TLS in the open": "tls/key.pem",
};

for (const [what, name] of Object.entries(NAMES)) {
  test(`a file name with ${what} is refused`, async () => {
    const message = await refusalOf(forgedBackup([[name, "pwned"]]));

    assert.match(message, /^a file is refused: /);
    assert.doesNotMatch(message, /[\p{Cc}\p{Cf}\u2028]/u, "a message is one line of plain text");
    assert.ok(message.length < 300);
  });
}

const SETS: Readonly<Record<string, Entries>> = {
  "one name twice": [
    ["calendars/a.ics", "1"],
    ["calendars/a.ics", "2"],
  ],
  "two names that differ in case": [
    ["calendars/a.ics", "1"],
    ["Calendars/A.ics", "2"],
  ],
  "two spellings of one name": [
    ["calendars/m\u00fcll.ics", "1"],
    ["calendars/mu\u0308ll.ics", "2"],
  ],
  "a file where a folder is": [
    ["calendars", "1"],
    ["calendars/a.ics", "2"],
  ],
  "a file below a document": [["layout.json/a.ics", "1"]],
  "more files than a home has": Array.from({ length: 4_097 }, (_, at) => [`a/${at}.ics`, ""]),
};

for (const [what, entries] of Object.entries(SETS)) {
  test(`${what} in a backup is refused`, async () => {
    assert.match(await refusalOf(forgedBackup(entries)), /^a file (is refused|holds)/);
  });
}

test("ordinary file names of users are kept", async () => {
  const names = [
    "calendars/Müllabfuhr (2026).ics",
    "calendars/家族 & friends, v1.2.ics",
    "calendars/a'b~c+d=e@f#g!.ics",
    "a/b/c/d.txt",
    "2026",
  ];
  const files = new Map([
    ...HOME.files,
    ...names.map((name) => [name, Buffer.from(name)] as const),
  ]);

  const unpacked = await unpack(await pack({ ...HOME, files }, PASSPHRASE), PASSPHRASE, "it");

  assert.deepEqual(unpacked.files, files);
  assert.deepEqual(unpacked.secrets, HOME.secrets);
});

test("a backup that unpacks to too much data, or to too deep a text, is refused", async () => {
  const tooMany = 128 + 16;

  assert.match(await refusalOf(await bomb(tooMany, " ")), /more than 128 MiB/);
  assert.match(await refusalOf(await bomb(1, "[")), /nested more/);
  assert.match(await refusalOf(await bomb(8, "0,", ["[", "0]"])), /more than \d+ parts/);
});

test("a key derivation with excessive parameters is refused without running it", async () => {
  const packed = await pack(HOME, PASSPHRASE);
  const text = brotliDecompressSync(packed).toString();
  const [own = ""] = /\{"N":16384,"r":8,"p":5\}/.exec(text) ?? [];
  const costs = [
    '{"N":1048576,"r":8,"p":1}',
    '{"N":16384,"r":32,"p":16}',
    '{"N":131072,"r":16,"p":1}',
    '{"N":16385,"r":8,"p":1}',
    '{"N":1e300,"r":8,"p":1}',
    '{"N":16384,"r":0,"p":5}',
    '{"N":16384,"r":8,"p":-1}',
  ];

  for (const cost of costs) {
    const before = process.cpuUsage();
    const changed = text.replace(own, cost).replace(/,"sha256":.*$/, "}");
    await refusalOf(packedText(changed), PASSPHRASE);
    assert.ok(process.cpuUsage(before).user < 1_000_000, cost);
  }
});

test("with the passphrase, a change of the unencrypted part is detected too", async () => {
  const text = brotliDecompressSync(await pack(HOME, PASSPHRASE)).toString();
  const files = `"layout.json":"${Buffer.from("{}").toString("base64")}"`;
  const added = text.replace(files, `${files},"pwn.ts":""`).replace(/,"sha256":.*$/, "}");

  assert.match(await refusalOf(packedText(added), PASSPHRASE), /or the file was changed/);
});

test("a backup of version 1 opens, with its secrets", async () => {
  const secrets: Entries = [["keys.json", "a secret"]];
  const packed = forgedBackup([["a.ics", "1"]], sealedOfVersion1(secrets, PASSPHRASE));

  const opened = await unpack(packed, PASSPHRASE, "it");

  assert.equal(opened.files.get("a.ics")?.toString(), "1");
  assert.equal(opened.secrets.get("keys.json")?.toString(), "a secret");
  assert.match(await refusalOf(packed, "another passphrase"), /wrong passphrase for the secrets/);
});

test("file names in the encrypted part are validated like all others", async () => {
  const sealed = sealedOfVersion1([["x\n/../tokens.jsonl", "pwned"]], PASSPHRASE);

  assert.match(await refusalOf(forgedBackup([], sealed), PASSPHRASE), /is not allowed/);
});

test("a backup of a newer Mantel is distinguished from a damaged one", async () => {
  const later = packedText(`${HEAD},"version":3,"files":{}}`);

  assert.match(await refusalOf(later), /has version 3, but this Mantel supports versions up to 2/);
  assert.match(await refusalOf(Buffer.from("no backup")), /is not a backup of Mantel/);
});
