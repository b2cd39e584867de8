import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { emptyFolder } from "../helpers/folder.ts";
import { emptyRepository } from "../helpers/repository.ts";
import { runScript } from "../helpers/script.ts";

test("a new plugin of each kind passes their own tests and the checks", async (t) => {
  const { folder, run, newPlugin } = await emptyHome(t);
  const kinds = ["bridge", "service", "widget", "automation", "all"];

  for (const kind of kinds) await newPlugin(`garden-${kind}`, "--kind", kind);

  const tests: string[] = [];
  for (const kind of kinds) {
    const own = `test/plugins/garden-${kind}`;
    const names = await readdir(join(folder, own));
    assert.ok(names.length > 0, kind);
    tests.push(...names.map((name) => `${own}/${name}`));
  }
  const written = [...tests, ...kinds.map((kind) => `plugins/garden-${kind}`)];
  assert.equal(
    (await run("node_modules/.bin/oxfmt", "-c", ".ci/oxfmt.json", "--list-different", ...written))
      .output,
    "",
  );
  const lint = await run("node_modules/.bin/oxlint", "-c", ".ci/oxlint.json", ...written);
  assert.equal(lint.code, 0, lint.output);
  const result = await run(process.execPath, "--import", "tsx", "scripts/test.ts", ...tests);
  assert.equal(result.code, 0, result.output);
  const [, passed] = /^pass (\d+)/m.exec(result.output) ?? [];
  assert.ok(Number(passed) >= kinds.length, result.output);
});

test("the id is the plugin's name, folder and title", async (t) => {
  const { folder, newPlugin } = await emptyHome(t);

  await newPlugin("garden-lamp");

  const manifest = JSON.parse(
    await readFile(join(folder, "plugins/garden-lamp/package.json"), "utf8"),
  ) as { name: string; mantel: { id: string; title: string } };
  assert.equal(manifest.name, "@mantel/garden-lamp");
  assert.equal(manifest.mantel.id, "garden-lamp");
  assert.equal(manifest.mantel.title, "Garden lamp");
});

for (const [fault, args, message] of [
  [
    "an id with capitals",
    ["Garden"],
    /invalid id "Garden": use lower-case words joined by hyphens/,
  ],
  ["an id that leads elsewhere", ["../host"], /lower-case words/],
  ["no id", [], /lower-case words/],
  ["two ids", ["a", "b"], /also b/],
  ["an unknown kind", ["a", "--kind", "lamp"], /unknown kind lamp/],
  ["an unknown flag", ["a", "--force"], /--force/],
  ["a section of the host's config", ["server"], /mantel\.id must not be server/],
] as const) {
  test(`${fault} is refused, and nothing is written`, async (t) => {
    const { folder, newPlugin } = await emptyHome(t);

    const { code, output } = await newPlugin(...args);

    assert.notEqual(code, 0);
    assert.match(output, message);
    assert.deepEqual(await readdir(join(folder, "plugins")), []);
  });
}

test("--help prints the usage and writes nothing", async (t) => {
  const { folder, newPlugin } = await emptyHome(t);

  const { code, output } = await newPlugin("--help");

  assert.equal(code, 0);
  assert.match(output, /^Creates a working plugin/);
  assert.deepEqual(await readdir(join(folder, "plugins")), []);
});

test("an existing plugin is not overwritten", async (t) => {
  const { folder, newPlugin } = await emptyHome(t);
  await newPlugin("garden-lamp", "--kind", "service");

  const { code, output } = await newPlugin("garden-lamp");

  assert.equal(code, 1);
  assert.match(output, /plugins\/garden-lamp already exists/);
  const source = await readFile(join(folder, "plugins/garden-lamp/index.ts"), "utf8");
  assert.match(source, /mqttPublish/);
});

test("a plugin outside has all files of a package of its own, and a copy of the SDK", async (t) => {
  const { folder, newPlugin } = await emptyHome(t);
  const outside = join(await emptyFolder(t), "garden-lamp");

  const { code, output } = await newPlugin("--to", outside, "--kind", "all");

  assert.equal(code, 0, output);
  const files = await readdir(outside, { recursive: true });
  for (const file of [
    ".git",
    ".github/workflows/test.yml",
    ".gitignore",
    ".oxlintrc.json",
    ".vscode/launch.json",
    "README.md",
    "api.ts",
    "index.ts",
    "package.json",
    "test/index.test.ts",
    "test/widget.test.ts",
    "tsconfig.json",
    "vendor/mantel-plugin-sdk-0.1.0.tgz",
    "widget.ts",
  ]) {
    assert.ok(files.includes(file), file);
  }
  const manifest = JSON.parse(await readFile(join(outside, "package.json"), "utf8")) as {
    name: string;
    devDependencies: Record<string, string>;
  };
  assert.equal(manifest.name, "mantel-plugin-garden-lamp");
  assert.ok(Object.values(manifest.devDependencies).every((version) => version !== "*"));
  assert.deepEqual(await readdir(join(folder, "plugins")), []);
  const again = await newPlugin("--to", outside);
  assert.match(again.output, /garden-lamp already exists and is not empty/);
});

async function emptyHome(t: TestContext) {
  const repository = await emptyRepository(t);
  const newPlugin = (...args: readonly string[]) =>
    runScript("new-plugin", args, { cwd: repository.folder });
  return { ...repository, newPlugin };
}
