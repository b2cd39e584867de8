import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { cp, mkdir, readFile, realpath, symlink, writeFile } from "node:fs/promises";
import { delimiter, join, resolve } from "node:path";
import { type TestContext, test } from "node:test";
import { emptyFolder } from "../helpers/folder.ts";

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

const isRootOnDebian = existsSync("/usr/bin/apt-get") && process.getuid?.() === 0;
const asRootOnDebian = { skip: isRootOnDebian ? false : "only root on Debian installs programs" };

test("a start tries once to install a missing program", asRootOnDebian, async (t) => {
  const { runWithFakeApt } = await clone(t);

  const first = await runWithFakeApt("node", "scripts/setup.js");
  const second = await runWithFakeApt("node", "scripts/setup.js");

  assert.match(first.stderr, /^setup: plugins run without the kernel's sandbox: bwrap is missing/m);
  assert.deepEqual(first.asked, [
    "update -qq",
    "install -y -qq --no-install-recommends bubblewrap",
  ]);
  assert.deepEqual([second.stderr, second.asked], ["", []]);
});

test(
  "missing programs are installed at once, or one by one if that fails",
  asRootOnDebian,
  async (t) => {
    const { runWithFakeApt } = await clone(t);

    const { asked } = await runWithFakeApt("node", "scripts/setup.js", "--test");

    const [update, together = "", ...single] = asked.map((line) => line.replace(/ -\S+/g, ""));
    assert.equal(update, "update");
    const [, ...names] = together.split(" ");
    assert.ok(names.includes("bubblewrap") && names.includes("radicale"));
    const each = names.map((name) => `install ${name}`);
    const browser = each.indexOf("install chromium-headless-shell");
    assert.deepEqual(single, each.toSpliced(browser + 1, 0, "install chromium"));
  },
);

test("npm test with a path installs npm packages and never runs apt", async (t) => {
  const { runWithFakeApt, installedVersion } = await clone(t);

  const { code, stdout, stderr, asked } = await runWithFakeApt("npm", "test", "test/a");

  assert.equal(code, 0, stderr);
  assert.match(stdout, /^tested test\/a$/m);
  assert.equal(await installedVersion("@mantel/plugin-sdk"), "0.1.0");
  assert.deepEqual(asked, []);
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
  const folder = await emptyFolder(t);
  const writePackage = async (path: string, { needs, version = "0.1.0", ...rest }: Package) => {
    await mkdir(join(folder, path), { recursive: true });
    const content = { ...rest, version, dependencies: needs };
    await writeFile(join(folder, path, "package.json"), JSON.stringify(content));
  };
  await writeFile(
    join(folder, "package.json"),
    JSON.stringify({
      name: "mantel",
      private: true,
      workspaces: ["plugin-sdk", "plugins/*"],
      scripts: { pretest: await pretest(), test: "echo tested" },
    }),
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
    run(process.execPath, [...nodeFlags, join(folder, "scripts/setup.js")]);
  /** Runs a program where bubblewrap is missing and apt-get fails; `asked` has what apt-get was asked for. */
  const runWithFakeApt = async (program: string, ...args: readonly string[]) => {
    const bin = await emptyFolder(t);
    const log = join(bin, "asked");
    await writeFile(log, "");
    await writeFile(join(bin, "apt-get"), `#!/bin/sh\necho "$*" >> ${log}\nexit 1\n`, {
      mode: 0o755,
    });
    await symlink(process.execPath, join(bin, "node"));
    await symlink(await realpath(npm), join(bin, "npm"));
    await symlink("/bin/sh", join(bin, "sh"));
    const ended = await run(join(bin, program), args, { cwd: folder, env: { PATH: bin } });
    const asked = (await readFile(log, "utf8")).split("\n").filter((line) => line !== "");
    return { ...ended, asked };
  };
  const installedVersion = async (name: string) => {
    const manifest = await readFile(join(folder, "node_modules", name, "package.json"), "utf8");
    return (JSON.parse(manifest) as { version: string }).version;
  };
  return { folder, setup, runWithFakeApt, writePackage, installedVersion };
}

const folders = (process.env["PATH"] ?? "").split(delimiter);
const npm = folders.map((each) => join(each, "npm")).find((path) => existsSync(path)) ?? "";

/** As this repository has it. */
async function pretest(): Promise<string | undefined> {
  const manifest = await readFile(join(SETUP, "../../package.json"), "utf8");
  return (JSON.parse(manifest) as { scripts: Record<string, string> }).scripts["pretest"];
}

function run(
  program: string,
  args: readonly string[],
  options: { cwd?: string; env?: object } = {},
) {
  return new Promise<{ code: number; stdout: string; stderr: string }>((resolveRun) => {
    const settings = { ...options, env: { ...process.env, ...options.env } };
    const child = execFile(program, args, settings, (_failure, stdout, stderr) =>
      resolveRun({ code: child.exitCode ?? 1, stdout, stderr }),
    );
  });
}
