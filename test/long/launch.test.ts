import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { appendFile, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { compileHost } from "../../host/compiled.js";
import { startHost } from "../helpers/host.ts";
import { copyOfHost } from "../helpers/repository.ts";

const CACHE = "node_modules/.cache";

test("the host is compiled once, and again when a source has changed", async (t) => {
  const { launch, folder, compiled } = await openCopy(t);

  const first = await launch("--help");
  const made = await compiled();
  await launch("--help");
  const again = await compiled();
  await appendFile(join(folder, "host/options.ts"), "\n// another line\n");
  await launch("--help");
  const changed = await compiled();

  assert.match(first.stdout, /^usage: npm start/);
  assert.deepEqual(again, made);
  assert.deepEqual([made.length, changed.length], [1, 1]);
  assert.notDeepEqual(changed, made);
});

test("an unwritable folder is reported, and the host starts from its sources", async (t) => {
  const { launch, folder } = await openCopy(t);
  await writeFile(join(folder, CACHE), "a file where the folder should be");

  const { stdout, stderr } = await launch("--help");

  assert.match(stdout, /^usage: npm start/);
  assert.match(stderr, /starts from its sources, which takes longer: /);
});

test("an error of the compiled host is reported in source lines", async (t) => {
  const { launch, folder } = await openCopy(t);
  await appendFile(join(folder, "host/options.ts"), '\nthrow new Error("on purpose");\n');
  const lines = (await readFile(join(folder, "host/options.ts"), "utf8")).split("\n").length;

  const { stderr } = await launch("--help");

  assert.match(stderr, new RegExp(`host/options\\.ts:${lines - 1}`));
});

test("a host takes the code that V8 compiled for an earlier one, and does not save it again", async (t) => {
  const cache = (await compileHost()).replace(/\.mjs$/, ".cache");
  const start = async () => {
    const { api } = await startHost(t, { plugins: [] });
    await api("/health"); // the host saves it with its ready line
    const files = (await readdir(cache, { recursive: true })).filter((name) =>
      name.endsWith(".cache"),
    );
    return Promise.all(
      files.toSorted().map(async (name) => [name, (await stat(join(cache, name))).mtimeMs]),
    );
  };

  const saved = await start();
  const after = await start();

  assert.equal(saved.length, 2);
  assert.deepEqual(after, saved);
});

async function openCopy(t: TestContext) {
  const folder = await copyOfHost(t);
  const launch = (...flags: string[]) =>
    new Promise<{ stdout: string; stderr: string }>((done) => {
      const args = ["host/launch.js", ...flags];
      execFile(process.execPath, args, { cwd: folder }, (_failure, stdout, stderr) =>
        done({ stdout, stderr }),
      );
    });
  const compiled = async (): Promise<string[]> => {
    const names = await readdir(join(folder, CACHE, "mantel"));
    return names.filter((name) => name.endsWith(".mjs"));
  };
  return { folder, launch, compiled };
}
