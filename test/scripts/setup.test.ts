import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { type TestContext, test } from "node:test";

const SETUP = resolve(import.meta.dirname, "../../scripts/setup.js");
const AS_NODE_18 =
  'Object.defineProperty(process, "versions", { value: { ...process.versions, node: "18.20.0" } })';

test("a fresh clone is installed, with progress on standard error alone", async (t) => {
  const { setup, installedVersion } = await clone(t);

  const { code, stdout, stderr } = await setup();

  assert.equal(code, 0, stderr);
  assert.equal(stdout, "");
  assert.match(stderr, /^setup: installing npm packages/);
  assert.equal(await installedVersion("@mantel/plugin-sdk"), "0.1.0");
});

test("setup prints nothing if nothing is missing", async (t) => {
  const { setup } = await clone(t);
  await setup();

  assert.deepEqual(await setup(), { code: 0, stdout: "", stderr: "" });
});

test("a package that was added to a plugin since the last run is installed", async (t) => {
  const { setup, writePackage, installedVersion } = await clone(t);
  await setup();
  await writePackage("plugins/tool", { name: "@mantel/tool", version: "2.0.0" });
  await writePackage("plugins/lamp", { name: "@mantel/lamp", needs: { "@mantel/tool": "2.0.0" } });

  const { code, stderr } = await setup();

  assert.equal(code, 0, stderr);
  assert.equal(await installedVersion("@mantel/tool"), "2.0.0");
});

test("a plugin that npm refuses is reported and does not prevent others from starting", async (t) => {
  const { setup, writePackage } = await clone(t);
  await setup();
  const needs = { "@mantel/tool": "2.0.0" };
  await writePackage("plugins/one", { name: "@mantel/same", needs });
  await writePackage("plugins/two", { name: "@mantel/same", needs });

  const { code, stderr } = await setup();

  assert.equal(code, 0, stderr);
  assert.match(stderr, /must not have multiple workspaces with the same name/);
  assert.match(stderr, /setup: npm failed; some plugins may not start$/m);
});

test("a plugin whose package.json is damaged is left to the host", async (t) => {
  const { folder, setup } = await clone(t);
  await setup();
  await mkdir(join(folder, "plugins/broken"));
  await writeFile(join(folder, "plugins/broken/package.json"), "{");

  assert.deepEqual(await setup(), { code: 0, stdout: "", stderr: "" });
});

test("two concurrent runs both finish with everything installed", async (t) => {
  const { setup, installedVersion } = await clone(t);

  const runs = await Promise.all([setup(), setup()]);

  assert.deepEqual(
    runs.map(({ code }) => code),
    [0, 0],
  );
  const said = runs.map(({ stderr }) => stderr).join("");
  assert.equal(said.match(/installing npm packages/g)?.length, 1, said);
  assert.equal(await installedVersion("@mantel/plugin-sdk"), "0.1.0");
});

test("a Node version that is too old is reported with the required one", async (t) => {
  const { setup } = await clone(t);

  const { code, stderr } = await setup("--import", `data:text/javascript,${AS_NODE_18}`);

  assert.equal(code, 1);
  assert.equal(stderr, "setup: Mantel needs Node 20.19 or newer, but this is Node 18.20.0\n");
});

interface Package {
  readonly name: string;
  readonly version?: string;
  readonly needs?: Readonly<Record<string, string>>;
}

/** A repository with an SDK and one plugin, of which nothing is installed. Needs no network. */
async function clone(t: TestContext) {
  const folder = await mkdtemp(join(tmpdir(), "mantel-setup-"));
  t.after(() => rm(folder, { recursive: true }));
  const writePackage = async (path: string, { needs, version = "0.1.0", ...rest }: Package) => {
    await mkdir(join(folder, path), { recursive: true });
    const content = { ...rest, version, dependencies: needs };
    await writeFile(join(folder, path, "package.json"), JSON.stringify(content));
  };
  await writeFile(
    join(folder, "package.json"),
    JSON.stringify({ name: "mantel", private: true, workspaces: ["plugin-sdk", "plugins/*"] }),
  );
  await writePackage("plugin-sdk", { name: "@mantel/plugin-sdk" });
  await writePackage("plugins/clock", {
    name: "@mantel/clock",
    needs: { "@mantel/plugin-sdk": "0.1.0" },
  });
  await mkdir(join(folder, "scripts"));
  await cp(SETUP, join(folder, "scripts/setup.js"));
  await cp(join(SETUP, "../installed.js"), join(folder, "scripts/installed.js"));
  await writeFile(join(folder, "scripts/package.json"), '{"type":"module"}');

  const setup = (...nodeFlags: readonly string[]) =>
    new Promise<{ code: number; stdout: string; stderr: string }>((resolveRun) => {
      const args = [...nodeFlags, join(folder, "scripts/setup.js")];
      const child = execFile(process.execPath, args, (_failure, stdout, stderr) =>
        resolveRun({ code: child.exitCode ?? 1, stdout, stderr }),
      );
    });
  const installedVersion = async (name: string) => {
    const manifest = await readFile(join(folder, "node_modules", name, "package.json"), "utf8");
    return (JSON.parse(manifest) as { version: string }).version;
  };
  return { folder, setup, writePackage, installedVersion };
}
