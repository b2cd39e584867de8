import assert from "node:assert/strict";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { fakeNpm } from "../helpers/fake-npm.ts";
import { emptyFolder } from "../helpers/folder.ts";
import { runScript } from "../helpers/script.ts";
import { packageTgz } from "../helpers/tar.ts";

const VERSIONS = ["1.0.0", "1.1.0", "2.0.0"];
const BUILT = "mantel-test-built";

function filesOf(id: string, version: string) {
  const dependencies = id === "echo" ? { [BUILT]: "^1.0.0" } : {};
  const mantel = { id, kinds: ["service"], server: "index.ts" };
  const name = `mantel-plugin-${id}`;
  return {
    "package.json": JSON.stringify({ name, version, type: "module", dependencies, mantel }),
    "index.ts": `import { definePlugin } from "@mantel/plugin-sdk";
export default definePlugin({ start() {} });`,
  };
}

/** A dependency that asks for an install script, as npm leaves it behind. */
const INSTALL = `
  mkdir -p node_modules/${BUILT}
  echo '{"name": "${BUILT}", "version": "1.0.0"}' > node_modules/${BUILT}/package.json
  echo '{"packages": {"node_modules/${BUILT}": {"version": "1.0.0", "hasInstallScript": true}}}' \\
    > node_modules/.package-lock.json`;

/** The command in a home of its own, with a registry that has two plugins in the versions up to `latest`. */
async function openHome(t: TestContext, latest = "1.0.0") {
  const home = await emptyFolder(t);
  const [data, plugins, registry] = ["data", "plugins", "registry"].map((name) => join(home, name));
  for (const folder of [data, plugins, registry]) await mkdir(folder ?? "");
  for (const id of ["echo", "lamp"]) {
    for (const version of VERSIONS) {
      const archive = packageTgz(filesOf(id, version));
      await writeFile(join(registry ?? "", `mantel-plugin-${id}@${version}.tgz`), archive);
    }
  }
  const release = (version: string) => writeFile(join(registry ?? "", "latest"), version);
  await release(latest);
  const found = VERSIONS.slice(0, 1).map((version) => ({
    name: "mantel-plugin-echo",
    version,
    description: "Answers",
    keywords: ["mantel-plugin"],
  }));
  const npm = await fakeNpm(t, {
    search: `case "$*" in *absent*) echo '[]' ;; *) echo '${JSON.stringify(found)}' ;; esac`,
    view: `echo "\\"$(cat '${registry}/latest')\\""`,
    pack: `for spec; do :; done
      case "$spec" in *@latest) spec=\${spec%@latest}@$(cat '${registry}/latest') ;; *@*) ;; *) spec=$spec@$(cat '${registry}/latest') ;; esac
      cp "${registry}/$spec.tgz" .`,
    install: INSTALL,
  });
  const run = (...args: readonly string[]) =>
    runScript("plugin", [...args, "--data", data ?? "", "--plugins", plugins ?? ""]);
  return { data: data ?? "", run, release, npm };
}

test("a search shows what is found and installed, and says when nothing is", async (t) => {
  const { run } = await openHome(t);

  const before = await run("search", "echo");
  await run("add", "mantel-plugin-echo");
  const after = await run("search", "echo");
  const nothing = await run("search", "absent");

  assert.equal(before.stdout, "mantel-plugin-echo\t1.0.0\t\tAnswers\n");
  assert.equal(after.stdout, "mantel-plugin-echo\t1.0.0\tinstalled\tAnswers\n");
  assert.deepEqual([nothing.code, nothing.stderr], [0, "plugin: nothing found\n"]);
});

test("outdated exits with 1, and one plugin or all are updated", async (t) => {
  const { run, release } = await openHome(t);
  for (const id of ["echo", "lamp"]) await run("add", `mantel-plugin-${id}`, "--yes");
  assert.equal((await run("outdated")).code, 0);
  await release("1.1.0");

  const outdated = await run("outdated");
  const one = await run("update", "lamp");
  const rest = await run("update");
  const again = await run("outdated");

  assert.deepEqual(
    [outdated.code, outdated.stdout],
    [1, "echo\t1.0.0\t1.1.0\nlamp\t1.0.0\t1.1.0\n"],
  );
  assert.deepEqual([one.code, one.stdout], [0, "lamp 1.1.0: updated\n"]);
  assert.match(rest.stdout, /^echo 1\.1\.0: updated\n/);
  assert.match(rest.stdout, /^lamp 1\.1\.0: unchanged$/m);
  assert.deepEqual([again.code, again.stdout], [0, ""]);
});

test("a version is named, pinned, and followed again", async (t) => {
  const { run, release } = await openHome(t);
  await release("2.0.0");

  const added = await run("add", "mantel-plugin-lamp", "--version", "1.0.0", "--yes");
  const pinned = await run("pin", "lamp");
  const skipped = await run("update");
  const named = await run("update", "lamp", "--version", "1.1.0");
  const shown = await run("outdated");
  const released = await run("pin", "lamp", "--release");
  const updated = await run("update", "lamp");

  assert.match(added.stdout, /^lamp 1\.0\.0: installed\n/);
  assert.equal(pinned.stdout, "lamp stays at 1.0.0\n");
  assert.equal(skipped.stdout, "lamp: pinned\n");
  assert.equal(named.stdout, "lamp 1.1.0: updated\n");
  assert.deepEqual([shown.code, shown.stdout], [1, "lamp\t1.1.0\t2.0.0\tpinned\n"]);
  assert.equal(released.stdout, "lamp follows its source again\n");
  assert.equal(updated.stdout, "lamp 2.0.0: updated\n");
});

test("an install script runs only for a dependency that is named", async (t) => {
  const { run, npm } = await openHome(t);

  const added = await run("add", "mantel-plugin-echo");
  const rebuiltBefore = (await npm.calls()).filter((call) => call.startsWith("rebuild"));
  const allowed = await run("update", "echo", "--scripts", BUILT);
  const rebuilt = (await npm.calls()).filter((call) => call.startsWith("rebuild"));

  assert.match(added.stdout, /Install scripts did not run: mantel-test-built\. Allow them with/);
  assert.deepEqual(rebuiltBefore, []);
  assert.equal(allowed.code, 0, allowed.stderr);
  assert.doesNotMatch(allowed.stdout, /did not run/);
  assert.deepEqual(rebuilt, [`rebuild --ignore-scripts=false -- ${BUILT}`]);
});

test("a folder is linked if the config permits it, and used where it is", async (t) => {
  const { run, data } = await openHome(t);
  const folder = join(await emptyFolder(t), "lamp");
  await mkdir(folder);
  for (const [name, text] of Object.entries(filesOf("lamp", "1.0.0")))
    await writeFile(join(folder, name), text);

  const refused = await run("add", folder, "--link");
  await writeFile(join(data, "config.json"), '{"modules": {"lamp": {"links": true}}}');
  const linked = await run("add", folder, "--link", "--yes");
  const listed = await run("list");

  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /set modules\.lamp\.links to true in the config/);
  assert.match(linked.stdout, /^lamp 1\.0\.0: installed\n/);
  assert.match(listed.stdout, new RegExp(`^lamp\t1\\.0\\.0\t(link:)?${folder}\t`));
});
