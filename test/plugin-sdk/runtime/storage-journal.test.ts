import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { appendFile, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { promisify } from "node:util";
import { build } from "esbuild";
import { createStorage, refuseStorage } from "../../../plugin-sdk/runtime/storage.ts";
import { collectedLog } from "../../helpers/collected-log.ts";
import { emptyFolder } from "../../helpers/folder.ts";
import { until } from "../../helpers/until.ts";

async function openFolder(t: TestContext) {
  const folder = join(await emptyFolder(t), "plugins", "garden-bridge");
  const log = collectedLog();
  const open = () => createStorage(folder, log).journal("timers");
  return { folder, log, open, file: join(folder, "timers.journal") };
}

const turn = () => new Promise<void>(setImmediate);

test("a change is in the file after the turn in which it was made", async (t) => {
  const { open, file } = await openFolder(t);
  const journal = open();

  journal.set("a", { due: 1 });
  journal.set("b", [null, "ü"]);
  journal.set("a", { due: 2 });
  journal.delete("b");
  await turn();

  assert.deepEqual([...open()], [["a", { due: 2 }]]);
  assert.equal((await stat(file)).mode & 0o777, 0o600);
  await journal.close();
});

test("values that stay the same, and keys that are absent, write nothing", async (t) => {
  const { open, file } = await openFolder(t);
  const journal = open();
  journal.set("a", 1);
  await turn();
  const before = await readFile(file, "utf8");

  journal.set("a", 1);
  assert.equal(journal.delete("b"), false);
  await journal.close();

  assert.equal(await readFile(file, "utf8"), before);
});

test("the file is written again when most of it is outdated, and changes meanwhile are in it", async (t) => {
  const { open, file } = await openFolder(t);
  const journal = open();

  for (let at = 0; at < 20_000; at++) {
    journal.set("count", at);
    if (at % 100 === 0) await turn();
  }
  journal.set("last", true);
  await until(async () => (await stat(file)).size < 200_000);
  await journal.close();

  assert.deepEqual(
    [...open()],
    [
      ["count", 19_999],
      ["last", true],
    ],
  );
});

test("changes that are outdated while the file is written again do not stay in it", async (t) => {
  const { open, file } = await openFolder(t);
  const journal = open();

  for (let at = 0; at < 6_000; at++) journal.set("count", at);
  await Promise.resolve(); // the new file is begun; it is synced in a later turn
  for (let at = 0; at < 20_000; at++) journal.set("count", at);

  await until(async () => (await stat(file)).size < 1_000);
  assert.deepEqual([...open()], [["count", 19_999]]);
  await journal.close();
});

test("a damaged end costs only its line, and later changes are whole", async (t) => {
  const { open, file, log } = await openFolder(t);
  const journal = open();
  journal.set("a", 1);
  await journal.close();
  await appendFile(file, '["b",{"due":');

  const second = open();
  second.set("c", 3);
  await second.close();

  assert.deepEqual(
    [...open()],
    [
      ["a", 1],
      ["c", 3],
    ],
  );
  assert.equal(log.records[0]?.sentence, "skipped damaged lines of a journal");
});

test("lines of another shape are left out", async (t) => {
  const { open, file } = await openFolder(t);
  const journal = open();
  journal.set("a", 1);
  await journal.close();
  await writeFile(file, '["a",1]\n{}\n[1,2]\n["b",2,3]\nnull\n\n["c",null]\n');

  assert.deepEqual(
    [...open()],
    [
      ["a", 1],
      ["c", null],
    ],
  );
});

test("while writing is refused, changes stay in memory; they are stored at the end when it is possible again", async (t) => {
  const { open, log } = await openFolder(t);
  const journal = open();
  t.after(() => refuseStorage(undefined));

  refuseStorage("the plugin has used 256 MiB");
  journal.set("a", 1);
  await turn();
  assert.equal(journal.get("a"), 1);
  assert.deepEqual([...open()], []);
  assert.equal(log.records[0]?.sentence, "could not store changes; trying again");
  refuseStorage(undefined);
  await journal.close();

  assert.deepEqual([...open()], [["a", 1]]);
});

const PROGRAM = `
import { createStorage } from "./plugin-sdk/runtime/storage.ts";
const log = { debug() {}, info() {}, warn() {}, error() {} };
const journal = createStorage(process.argv[1], log).journal("timers");
for (let at = 1; ; at++) {
  journal.set("first", at);
  journal.set("second", at);
  await new Promise(setImmediate);
  process.stdout.write(at + "\\n");
}
`;

test("a process that is killed has stored each change that it has reported, and both of one turn", async (t) => {
  const { folder, open } = await openFolder(t);
  const given = ["--import", "tsx", "--input-type=module", "-e", PROGRAM, folder];
  const program = spawn(process.execPath, given, { stdio: ["ignore", "pipe", "inherit"] });
  let reported = "";
  program.stdout.on("data", (chunk: Buffer) => (reported += chunk.toString()));
  await until(() => reported.split("\n").length > 1_000);

  program.kill("SIGKILL");
  await new Promise((resolve) => program.once("close", resolve));

  const last = Number(reported.trimEnd().split("\n").at(-1));
  const journal = open();
  assert.ok(Number(journal.get("first")) >= last);
  assert.equal(journal.get("first"), journal.get("second"));
});

const CONFINED = `
import { FileJournal } from "./plugin-sdk/runtime/storage-journal.ts";
const errors = [];
const log = { debug() {}, info() {}, warn() {}, error: (sentence) => errors.push(sentence) };
const journal = FileJournal.open({ path: process.argv[2], log, refusal: () => undefined });
journal.set("first", 1);
await new Promise((resolve) => setTimeout(resolve, 1_000)); // longer than the time between two syncs
journal.set("second", 2);
await new Promise(setImmediate);
console.log(JSON.stringify(errors));
process.kill(process.pid, "SIGKILL");
`;

test("a process under Node's permission model, as plugins are, stores changes after the first sync too", async (t) => {
  const { folder, open, file } = await openFolder(t);
  const program = join(folder, "..", "program.mjs");
  const stdin = { contents: CONFINED, resolveDir: process.cwd(), loader: "ts" } as const;
  await build({ stdin, outfile: program, bundle: true, platform: "node", format: "esm" });
  const model = process.allowedNodeEnvironmentFlags.has("--permission")
    ? "--permission"
    : "--experimental-permission";
  const given = [model, "--allow-fs-read=*", "--allow-fs-write=*", program, file];

  const { stdout } = await promisify(execFile)(process.execPath, given).catch(
    (failure: { stdout: string }) => failure,
  );

  assert.equal(stdout.trim(), "[]");
  assert.deepEqual(
    [...open()],
    [
      ["first", 1],
      ["second", 2],
    ],
  );
});
