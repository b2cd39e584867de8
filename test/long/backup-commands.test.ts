import assert from "node:assert/strict";
import { cp, mkdir, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { test, type TestContext } from "node:test";
import { finishReplacement } from "../../host/documents/restore-transaction.ts";
import { emptyFolder } from "../helpers/folder.ts";
import { forgedBackup } from "../helpers/forged-backup.ts";
import { startHost } from "../helpers/host.ts";
import { runScript } from "../helpers/script.ts";

const PASSPHRASE = "correct horse battery";
const SECRET = "a-secret-of-the-home";

test("a running home is backed up and restored, with its secrets, on another machine", async (t) => {
  const url = `mqtt://somebody:${SECRET}@127.0.0.1:9`;
  const host = await startHost(t, { plugins: ["plugins/mqtt"], config: { mqtt: { url } } });
  await host.api("/config", { method: "PATCH", json: { ui: { theme: "dark" } } });
  const token = await host.token("admin");
  const folder = await emptyFolder(t);
  const file = join(folder, "home.backup");

  const backup = await run("backup", [file, "--secrets", "--data", host.data]);
  const whileItRuns = await run("restore", [file, "--data", host.data]);
  await host.stop();
  const moved = join(folder, "data");
  const restored = await run("restore", [file, "--secrets", "--data", moved]);

  assert.deepEqual([backup.code, restored.code], [0, 0], backup.output + restored.output);
  assert.equal((await stat(file)).mode & 0o777, 0o600);
  assert.equal(whileItRuns.code, 1);
  assert.match(whileItRuns.output, /is in use by another Mantel \(process \d+\); stop that one/);
  const other = await startHost(t, { plugins: ["plugins/mqtt"], data: moved });
  const response = await fetch(`${other.url}/api/v1/config`, {
    headers: { authorization: `Bearer ${token}` },
  });
  const { config } = (await response.json()) as { config: { ui: { theme: string } } };
  assert.equal(config.ui.theme, "dark");
  assert.ok((await readFile(join(moved, "secrets.json"), "utf8")).includes(SECRET));
});

test("a backup without secrets contains none, and its restore keeps the present ones", async (t) => {
  const { data, file } = await home(t);
  await run("backup", [file, "--data", data]);
  await writeFile(join(data, "config.json"), "{}");
  await writeFile(join(data, "scenes.json"), '{"version":1,"scenes":{}}');

  const { code, output } = await run("restore", [file, "--data", data]);

  assert.equal(code, 0, output);
  assert.equal(await readFile(join(data, "config.json"), "utf8"), '{"ui":{"theme":"dark"}}');
  assert.equal(await readFile(join(data, "secrets.json"), "utf8"), SECRET_FILE);
  const [aside = ""] = (await readdir(data)).filter((name) => name.startsWith("before-restore-"));
  assert.deepEqual((await readdir(join(data, aside))).toSorted(), [
    "config.json",
    "layout.json",
    "scenes.json",
  ]);
  const other = join(data, "..", "other");
  await run("restore", [file, "--data", other]);
  assert.deepEqual((await readdir(other)).toSorted().slice(1), ["config.json", "layout.json"]);
});

test("a token that was revoked after the backup stays revoked", async (t) => {
  const { data, file } = await home(t);
  const register = join(data, "tokens.jsonl");
  const revoked = '{"revoked":{"jti":"1","revokedAt":"2026-11-20T09:00:00.000Z"}}';
  await writeFile(register, "\n");
  await run("backup", [file, "--secrets", "--data", data]);
  await writeFile(register, `\n${revoked}\n`);

  const without = await run("restore", [file, "--data", data]);
  await run("restore", [file, "--secrets", "--data", data]);

  assert.match(without.output, /Not restored and not changed: secrets\. Use --secrets/);
  assert.equal((await readFile(register, "utf8")).trim(), revoked);
});

test("an incomplete backup is refused and changes nothing", async (t) => {
  const { data, file } = await home(t);
  await run("backup", [file, "--secrets", "--data", data]);
  const whole = await readFile(file);
  const before = await readdir(data);
  const cut = join(data, "..", "cut.backup");

  for (const bytes of [whole.subarray(0, -9), Buffer.alloc(whole.length)]) {
    await writeFile(cut, bytes);
    const { code, output } = await run("restore", [cut, "--data", data]);
    assert.equal(code, 1);
    assert.match(output, /cut\.backup is not a backup of Mantel, or is damaged/);
  }
  await writeFile(cut, forgedBackup([["x\n/../tokens.jsonl", "pwned"]]));
  const roundabout = await run("restore", [cut, "--data", data]);
  assert.match(roundabout.output, /refused: the file name "x\\u\{a\}\/.*" is not allowed/);
  const wrong = await run("restore", [file, "--secrets", "--data", data], "another passphrase");
  assert.match(wrong.output, /wrong passphrase for the secrets/);
  assert.deepEqual(await readdir(data), before);
});

test("a damaged or newer document, a short passphrase and an existing file are reported", async (t) => {
  const { data, file } = await home(t);
  const short = await run("backup", [file, "--secrets", "--data", data], "short");
  await writeFile(join(data, "scenes.json"), '{"version":9}');
  const newer = await run("backup", [file, "--data", data]);
  await writeFile(join(data, "scenes.json"), "{");
  const damaged = await run("backup", [file, "--data", data]);
  await writeFile(file, "");
  const there = await run("backup", [file, "--data", data]);
  const nowhere = await run("backup", [`${file}2`, "--data", join(data, "nowhere")]);

  assert.match(short.output, /at least 12 characters/);
  assert.match(
    newer.output,
    /scenes\.json has version 9, but this Mantel supports versions up to 1/,
  );
  assert.match(damaged.output, /scenes\.json is not valid JSON at line 1, column 2/);
  assert.match(there.output, /already exists/);
  assert.match(nowhere.output, /no Mantel data in/);
  assert.deepEqual(
    [short, newer, damaged, there, nowhere].map(({ code }) => code),
    [1, 1, 1, 1, 1],
  );
});

test("a restore interrupted after any step is finished by the next start", async (t) => {
  for (let steps = 0; steps <= 3; steps++) {
    const { data } = await home(t);
    await stage(data);
    const moves = [
      ["config.json", "before-restore-1/config.json"],
      [".replacement/new/config.json", "config.json"],
      [".replacement/new/plugins/a/key.json", "plugins/a/key.json"],
    ] as const;
    for (const [from, to] of moves.slice(0, steps)) {
      await mkdir(join(data, to, ".."), { recursive: true });
      await rename(join(data, from), join(data, to));
    }

    const kept = await finishReplacement(data);

    assert.equal(kept, "before-restore-1");
    assert.equal(await readFile(join(data, "config.json"), "utf8"), "new config");
    assert.equal(await readFile(join(data, "plugins/a/key.json"), "utf8"), "new key");
    assert.equal(await readFile(join(data, kept, "config.json"), "utf8"), CONFIG_FILE);
    assert.equal(await finishReplacement(data), undefined);
  }
});

test("a restore interrupted before its plan is complete changes nothing", async (t) => {
  const { data } = await home(t);
  const before = await readdir(data);
  await stage(data);
  await rm(join(data, ".replacement/plan.json"));

  assert.equal(await finishReplacement(data), undefined);

  assert.deepEqual(await readdir(data), before);
});

/** The files that a restore has on the disk when it begins to move them. */
async function stage(data: string): Promise<void> {
  const files = { "config.json": "new config", "plugins/a/key.json": "new key" };
  for (const [path, text] of Object.entries(files)) {
    const staged = join(data, ".replacement/new", path);
    await mkdir(join(staged, ".."), { recursive: true });
    await writeFile(staged, text);
  }
  const plan = { aside: ["config.json"], files: Object.keys(files), keptIn: "before-restore-1" };
  await writeFile(join(data, ".replacement/plan.json"), JSON.stringify(plan));
}

const SECRET_FILE = `{"mqtt":{"password":"${SECRET}"}}`;
const CONFIG_FILE = '{"ui":{"theme":"dark"}}';

/** A data folder as a host leaves it, and a name for a backup beside it. */
async function home(t: TestContext) {
  const folder = await emptyFolder(t);
  const data = join(folder, "data");
  await mkdir(join(data, "cache"), { recursive: true });
  await cp(resolve(import.meta.dirname, "../../layouts/default.json"), join(data, "layout.json"));
  await writeFile(join(data, "config.json"), CONFIG_FILE);
  await writeFile(join(data, "secrets.json"), SECRET_FILE);
  return { data, file: join(folder, "home.backup") };
}

function run(command: "backup" | "restore", args: readonly string[], passphrase = PASSPHRASE) {
  return runScript(command, args, {
    env: { ...process.env, MANTEL_BACKUP_PASSPHRASE: passphrase },
  });
}
