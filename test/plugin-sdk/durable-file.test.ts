import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { sweepTemporaryFiles, writeDurably } from "@mantel/plugin-sdk/durable-file";
import { emptyFolder } from "../helpers/folder.ts";

test("a new file is readable only by its owner, and no temporary file remains", async (t) => {
  const folder = await emptyFolder(t);

  await writeDurably(join(folder, "config.json"), "{}");

  assert.equal(await readFile(join(folder, "config.json"), "utf8"), "{}");
  assert.equal((await stat(join(folder, "config.json"))).mode & 0o777, 0o600);
  assert.deepEqual(await readdir(folder), ["config.json"]);
});

test("a file gets the requested mode", async (t) => {
  const folder = await emptyFolder(t);

  await writeDurably(join(folder, "public.json"), "{}", 0o640);

  assert.equal((await stat(join(folder, "public.json"))).mode & 0o777, 0o640);
});

test("new content replaces old content of any length", async (t) => {
  const path = join(await emptyFolder(t), "notes");

  for (const content of ["a long first text", "short", "ünïcödé ✓".repeat(20_000), ""]) {
    await writeDurably(path, content);
    assert.equal(await readFile(path, "utf8"), content);
  }
});

test("a write that fails leaves the old file and no temporary one", async (t) => {
  const folder = await emptyFolder(t);
  await mkdir(join(folder, "taken"));
  await writeFile(join(folder, "taken", "inside"), "old");

  await assert.rejects(writeDurably(join(folder, "taken"), "new"), { code: /EISDIR|ENOTEMPTY/ });

  assert.deepEqual(await readdir(folder), ["taken"]);
  assert.equal(await readFile(join(folder, "taken", "inside"), "utf8"), "old");
});

test("a missing folder is reported with the file system's error", async (t) => {
  const folder = await emptyFolder(t);

  await assert.rejects(writeDurably(join(folder, "none", "file"), ""), { code: "ENOENT" });
});

test("concurrent writes of one file leave one complete version", async (t) => {
  const folder = await emptyFolder(t);
  const contents = Array.from({ length: 20 }, (_, at) => String(at).repeat(10_000));

  await Promise.all(contents.map((content) => writeDurably(join(folder, "file"), content)));

  assert.ok(contents.includes(await readFile(join(folder, "file"), "utf8")));
  assert.deepEqual(await readdir(folder), ["file"]);
});

test("a process killed during a write leaves a complete file", async (t) => {
  const folder = await emptyFolder(t);
  const path = join(folder, "file");
  const endless = `
    import { writeDurably } from "@mantel/plugin-sdk/durable-file";
    for (let round = 0; ; round++) {
      await writeDurably(${JSON.stringify(path)}, String(round % 10).repeat(200_000));
      if (round === 0) console.log("writing");
    }`;

  for (let kill = 0; kill < 5; kill++) {
    const args = ["--import", "tsx", "--input-type=module", "--eval", endless];
    const writer = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
    await once(writer.stdout, "data");
    writer.kill("SIGKILL");
    await once(writer, "exit");

    assert.match(await readFile(path, "utf8"), /^(\d)\1{199999}$/);
  }
  await sweepTemporaryFiles(folder);
  assert.deepEqual(await readdir(folder), ["file"]);
});

test("sweeping removes only the temporary files of interrupted writes", async (t) => {
  const folder = await emptyFolder(t);
  const kept = [".config.json.tmp", ".hidden", "config.json", "x.0123456789ab.tmp"];
  for (const name of [...kept, ".config.json.0123456789ab.tmp"]) {
    await writeFile(join(folder, name), "");
  }

  await sweepTemporaryFiles(folder);

  assert.deepEqual((await readdir(folder)).toSorted(), kept);
});
