import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import type { PluginView } from "../../host/api/plugin.ts";
import { emptyFolder } from "../helpers/folder.ts";
import { startHost } from "../helpers/host.ts";
import { runScript } from "../helpers/script.ts";
import { ICON, writePlugin } from "../helpers/written-plugin.ts";

/** The command in a home of its own. */
async function openHome(t: TestContext) {
  const home = await emptyFolder(t);
  const [data, plugins] = [join(home, "data"), join(home, "plugins")];
  await mkdir(plugins);
  const run = (...args: readonly string[]) =>
    runScript("plugin", [...args, "--data", data, "--plugins", plugins]);
  return { data, run };
}

test("while Mantel is stopped, plugins are added, listed, pinned and removed", async (t) => {
  const { data, run } = await openHome(t);
  const folder = await writePlugin(t);

  const added = await run("add", folder);
  const listed = await run("list");
  const pinned = await run("pin", "echo");
  const outdated = await run("outdated");
  const removed = await run("remove", "echo", "--purge");
  const empty = await run("list");

  assert.deepEqual([added.code, added.stderr], [0, ""]);
  assert.match(added.stdout, /^echo 1\.0\.0: installed\nIt may, once you consent:\n/);
  assert.match(added.stdout, / {2}- connect to a\.test\nNot started\. Consent in Settings/);
  assert.equal(listed.stdout, `echo\t1.0.0\t${folder}\tdisabled\n`);
  assert.equal(pinned.stdout, "echo stays at 1.0.0\n");
  assert.deepEqual([outdated.code, outdated.stdout], [0, ""]);
  assert.equal(removed.stdout, "removed echo with its options, secrets and storage\n");
  assert.equal(empty.stdout, "");
  assert.equal(existsSync(join(data, "packages/echo")), false);
});

test("wrong commands and folders are refused with the reason, and change nothing", async (t) => {
  const { run } = await openHome(t);

  const results = [
    await run("install", "x"),
    await run("add"),
    await run("add", "--link", "echo"),
    await run("add", "./absent"),
    await run("remove", "echo"),
  ];

  assert.deepEqual(
    results.map(({ code }) => code !== 0),
    [true, true, true, true, true],
  );
  const said = results.map(({ stderr }) => stderr);
  assert.match(said[0] ?? "", /unknown command "install"/);
  assert.match(said[1] ?? "", /pass exactly the source/);
  assert.match(said[2] ?? "", /--link needs a folder/);
  assert.match(said[3] ?? "", /absent/);
  assert.match(said[4] ?? "", /no plugin echo is installed/);
  assert.equal((await run("list")).stdout, "");
});

test("while Mantel runs, the command and the API show the same plugin, with its README and icon", async (t) => {
  const host = await startHost(t, { plugins: [] });
  const folder = await writePlugin(t);
  const at = ["--data", host.data, "--port", new URL(host.url).port];

  const added = await runScript("plugin", ["add", folder, "--yes", ...at]);
  const plugin = (await (await host.api("/plugins/echo")).json()) as PluginView;
  const readme = await host.api("/plugins/echo/readme");
  const icon = await host.api("/plugins/echo/icon");

  assert.deepEqual([added.code, added.stderr], [0, ""]);
  assert.match(added.stdout, /Consent given/);
  const { version, state, running, consent } = plugin;
  assert.deepEqual([version, state, running, consent], ["1.0.0", "active", "1.0.0", null]);
  assert.equal(await readme.text(), "# Echo");
  assert.deepEqual([icon.headers.get("content-type"), await icon.text()], ["image/svg+xml", ICON]);
  for (const answer of [readme, icon])
    assert.match(
      answer.headers.get("content-security-policy") ?? "",
      /default-src 'none'.*sandbox/,
    );
});
