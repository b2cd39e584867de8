import assert from "node:assert/strict";
import { mkdir, rm, symlink, writeFile } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { test, type TestContext } from "node:test";
import { buildWidget } from "../../../host/assets/build-widget.ts";
import { Compiler } from "../../../host/modules/build/compile.ts";
import { emptyFolder } from "../../helpers/folder.ts";
import { onTestEnd } from "../../helpers/on-test-end.ts";

const SECRET = "the-signing-key";

/** A plugin's folder below a home whose data holds a secret. */
async function openPlugin(t: TestContext) {
  const home = await emptyFolder(t);
  const folder = join(home, "plugins/pwn");
  await mkdir(join(folder, "node_modules/parcel"), { recursive: true });
  await mkdir(join(home, "data"));
  await writeFile(join(home, "data/keys.json"), JSON.stringify({ key: SECRET }));
  await symlink(join(home, "data/keys.json"), join(folder, "linked.json"));
  await symlink(join(home, "data"), join(folder, "linked"));
  await writeFile(join(folder, "node_modules/parcel/package.json"), '{"name":"parcel"}');
  const compiler = new Compiler(join(home, "data/cache"));
  onTestEnd(t, () => compiler.close());
  return { folder, compile: () => compiler.compile("pwn", folder, "index.ts") };
}

const PATHS = ["../../data/keys.json", "./linked.json", "./linked/keys.json"];

for (const path of PATHS) {
  test(`the server side of a plugin cannot include ${path} of the host in its bundle`, async (t) => {
    const { folder, compile } = await openPlugin(t);
    await writeFile(join(folder, "index.ts"), `import key from "${path}"; export default key;`);

    await assert.rejects(compile(), /is outside the plugin's folder/);
  });

  test(`a widget cannot include ${path} of the host in its bundle`, async (t) => {
    const { folder } = await openPlugin(t);
    await writeFile(join(folder, "widget.ts"), `import key from "${path}"; export default key;`);

    await assert.rejects(
      buildWidget({ id: "pwn", folder, entry: "widget.ts" }),
      /is outside the plugin's folder/,
    );
  });
}

test("a plugin's package cannot include files of the host in its bundle", async (t) => {
  const { folder, compile } = await openPlugin(t);
  await writeFile(
    join(folder, "node_modules/parcel/index.js"),
    'module.exports = require("../../../../data/keys.json");',
  );
  await writeFile(join(folder, "index.ts"), 'import key from "parcel"; export default key;');

  await assert.rejects(compile(), /is outside the plugin's folder/);
});

test("an entry linked to outside the plugin's folder is not compiled", async (t) => {
  const { folder, compile } = await openPlugin(t);
  await writeFile(join(folder, "../../data/code.ts"), "export default 1;");
  await symlink(join(folder, "../../data/code.ts"), join(folder, "index.ts"));

  await assert.rejects(compile(), /is outside the plugin's folder/);
});

test("a plugin beside an installed Mantel cannot include Mantel's own files", async (t) => {
  const { folder, compile } = await openPlugin(t);
  const mantel = resolve(import.meta.dirname, "../../..");
  await rm(join(folder, "node_modules"), { recursive: true });
  await symlink(dirname(mantel), join(folder, "node_modules"));
  const path = `${basename(mantel)}/package.json`;
  await writeFile(join(folder, "index.ts"), `import own from "${path}"; export default own;`);

  await assert.rejects(compile(), /is outside the plugin's folder/);
});
