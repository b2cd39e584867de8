import assert from "node:assert/strict";
import { mkdir, readdir, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { type TestContext, test } from "node:test";
import { emptyRepository } from "../helpers/repository.ts";
import { runScript } from "../helpers/script.ts";

const passes = 'import { test } from "node:test"; test("passes", () => {});';
const fails = `import { test } from "node:test";
  test("fails", () => { throw new Error("again"); });`;
const failsFirst = `import { test } from "node:test";
  import { existsSync, writeFileSync } from "node:fs";
  test("fails first", () => {
    if (existsSync("tried")) return;
    writeFileSync("tried", "");
    throw new Error("the first time");
  });`;

test("a path without tests fails the run", async (t) => {
  const { folder, run } = await repositoryWith(t, {});
  await mkdir(join(folder, "test/empty"));

  const empty = await run(["test/empty"]);
  const absent = await run(["test/absent"]);

  assert.deepEqual([empty.code, empty.output], [1, "test: there are no tests in test/empty\n"]);
  assert.deepEqual([absent.code, absent.output], [1, "test: there is no test/absent\n"]);
});

test("a file whose tests did not run fails the run", async (t) => {
  const { run } = await repositoryWith(t, { "test/a/none.test.ts": 'console.log("no test");' });

  const { code, output } = await run(["test/a"]);

  assert.equal(code, 1);
  assert.match(output, /^✖ test\/a\/none\.test\.ts: none of its tests ran$/m);
});

test("only a file that failed is repeated, alone, and named if it passes then", async (t) => {
  const { run } = await repositoryWith(t, {
    "test/a/one.test.ts": passes,
    "test/a/two.test.ts": failsFirst,
    "test/a/three.test.ts": passes,
  });

  const { code, output } = await run(["test/a", "--repeat"]);

  assert.equal(code, 0, output);
  assert.match(output, /Error: the first time/);
  assert.deepEqual(output.match(/^unsteady: .*$/gm), [
    "unsteady: test/a/two.test.ts failed beside other tests and passed alone",
  ]);
  assert.equal(output.match(/one\.test\.ts \(/g)?.length, 1);
  assert.match(output, /^pass 3$/m);
});

test("a repeated file that fails twice fails the run", async (t) => {
  const { run } = await repositoryWith(t, {
    "test/a/good.test.ts": passes,
    "test/a/bad.test.ts": fails,
  });

  const { code, output } = await run(["test/a", "--repeat"]);

  assert.equal(code, 1);
  assert.match(output, /^fail 1$/m);
  assert.doesNotMatch(output, /^unsteady/m);
});

test("a file that ends its process fails, and those behind it in the process run in another", async (t) => {
  const { run } = await repositoryWith(t, {
    "test/a/1.test.ts": passes,
    "test/a/2.test.ts": 'import { test } from "node:test"; test("ends", () => process.abort());',
    "test/a/3.test.ts": passes,
  });

  const { code, output } = await run(["test/a"]);

  assert.equal(code, 1);
  assert.match(output, /^✖ test\/a\/2\.test\.ts: the process ended with SIGABRT$/m);
  assert.match(output, /^✔ test\/a\/3\.test\.ts/m);
  assert.match(output, /^pass 2$/m);
});

test("the tests below a path run, and one that fails fails the run", async (t) => {
  const { run } = await repositoryWith(t, {
    "test/a/b/good.test.ts": passes,
    "test/a/bad.test.ts": fails,
  });

  const good = await run(["test/a/b"]);
  const both = await run(["test/a"]);

  assert.equal(good.code, 0, good.output);
  assert.match(good.output, /^pass 1$/m);
  assert.equal(both.code, 1);
  assert.match(both.output, /^fail 1$/m);
});

test("without a path what tests need is installed, and all run but the long ones", async (t) => {
  const { folder, run } = await repositoryWith(t, {
    "test/a.test.ts": passes,
    "test/b/c.test.ts": passes,
    "test/long/slow.test.ts": passes,
  });
  const scripts = join(folder, "scripts");
  const own = await realpath(scripts);
  for (const name of ["helpers", "shape"]) await rm(join(folder, `test/helpers/${name}.test.ts`));
  await rm(scripts);
  await mkdir(scripts);
  for (const name of await readdir(own)) await symlink(join(own, name), join(scripts, name));
  await rm(join(scripts, "setup.js"));
  await writeFile(join(scripts, "setup.js"), "console.log(...process.argv.slice(2))");

  const { code, output } = await run([]);

  assert.equal(code, 0, output);
  assert.match(output, /^--test$/m);
  assert.deepEqual(output.match(/test\/\S+\.test\.ts(?= \()/g)?.toSorted(), [
    "test/a.test.ts",
    "test/b/c.test.ts",
  ]);
});

test("without Chromium a file that needs it is skipped with the reason, and others run", async (t) => {
  const needs = `import { test } from "node:test";
    import { openBrowser } from "../helpers/browser.ts";
    test("opens", (t) => openBrowser(t));`;
  const asks = `import { test } from "node:test";
    import { hasBrowser, openBrowser } from "../helpers/browser.ts";
    test("needs none", () => {});
    test("opens", { skip: hasBrowser() ? false : "no browser" }, (t) => openBrowser(t));`;
  const { run } = await repositoryWith(t, {
    "test/a/asks.test.ts": asks,
    "test/a/needs.test.ts": needs,
  });

  const { code, output } = await run(["test/a"], { CHROMIUM_PATH: "/nowhere" });

  assert.equal(code, 0, output);
  assert.match(output, /^﹣ test\/a\/needs\.test\.ts: Chromium is not installed$/m);
  assert.match(output, /﹣ opens: no browser$/m);
  assert.match(output, /^pass 1$/m);
  assert.match(output, /^skip 2$/m);
});

test("a random order of tests and subtests is repeated by its seed", async (t) => {
  const names = Array.from({ length: 8 }, (_, at) => `part ${at}`);
  const { run } = await repositoryWith(t, {
    "test/a/order.test.ts": `import { test } from "node:test";
      const names = ${JSON.stringify(names)};
      for (const name of names) test("top " + name, () => {});
      test("parent", async (t) => { for (const name of names) await t.test(name, () => {}); });`,
  });
  const orderOf = (output: string, prefix: RegExp) =>
    Array.from(output.matchAll(prefix), ([, name]) => name);

  const first = await run(["test/a"], { TEST_ORDER: "random" });
  const [, seed = ""] = /^order: TEST_ORDER=(\d+) repeats it$/m.exec(first.output) ?? [];
  const again = await run(["test/a"], { TEST_ORDER: seed });

  for (const prefix of [/^ {2}✔ top (part \d)$/gm, /^ {4}✔ (part \d)$/gm]) {
    const order = orderOf(first.output, prefix);
    assert.deepEqual(new Set(order), new Set(names));
    assert.notDeepEqual(order, names);
    assert.deepEqual(orderOf(again.output, prefix), order);
  }
});

/** A repository with these files, and a function that runs `npm test` with arguments in it. */
async function repositoryWith(t: TestContext, files: Readonly<Record<string, string>>) {
  const { folder } = await emptyRepository(t);
  for (const [path, source] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), source);
  }
  // Inside a test run, Node's test runner starts no other one.
  const { NODE_TEST_CONTEXT: _, TEST_ORDER: __, ...env } = process.env;
  return {
    folder,
    run: (args: readonly string[], more: NodeJS.ProcessEnv = {}) =>
      runScript("test", args, { cwd: folder, env: { ...env, ...more } }),
  };
}
