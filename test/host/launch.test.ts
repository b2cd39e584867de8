import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { appendFile, cp, mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { type TestContext, test } from "node:test";
import { emptyFolder } from "../helpers/folder.ts";

const REPOSITORY = resolve(import.meta.dirname, "../..");
const CACHE = "node_modules/.cache";

test("the host is compiled once, and again when a source has changed", async (t) => {
  const { launch, folder, compiled } = await copyOfHost(t);

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

test("a folder that cannot be written is said, and the host starts from its sources", async (t) => {
  const { launch, folder } = await copyOfHost(t);
  await writeFile(join(folder, CACHE), "a file where the folder should be");

  const { stdout, stderr } = await launch("--help");

  assert.match(stdout, /^usage: npm start/);
  assert.match(stderr, /starts from its sources, which takes longer: /);
});

test("a fault of the compiled host is told in lines of its sources", async (t) => {
  const { launch, folder } = await copyOfHost(t);
  await appendFile(join(folder, "host/options.ts"), '\nthrow new Error("on purpose");\n');
  const lines = (await readFile(join(folder, "host/options.ts"), "utf8")).split("\n").length;

  const { stderr } = await launch("--help");

  assert.match(stderr, new RegExp(`host/options\\.ts:${lines - 1}`));
});

/** The sources of the host in a folder of their own, with the packages of this one. */
async function copyOfHost(t: TestContext) {
  const folder = await emptyFolder(t);
  for (const name of ["host", "plugin-sdk", "package.json", "tsconfig.json"]) {
    await cp(join(REPOSITORY, name), join(folder, name), { recursive: true });
  }
  await mkdir(join(folder, "node_modules/@mantel"), { recursive: true });
  await symlink(join(folder, "plugin-sdk"), join(folder, "node_modules/@mantel/plugin-sdk"));
  const installed = await readdir(join(REPOSITORY, "node_modules"));
  for (const name of installed.filter((each) => ![".cache", "@mantel"].includes(each))) {
    await symlink(join(REPOSITORY, "node_modules", name), join(folder, "node_modules", name));
  }
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
