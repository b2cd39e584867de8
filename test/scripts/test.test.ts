import assert from "node:assert/strict";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { emptyRepository } from "../helpers/repository.ts";

const RUN = [process.execPath, "--import", "tsx", "scripts/test.ts"] as const;

test("a path without tests fails the run", async (t) => {
  const { folder, run } = await emptyRepository(t);
  await mkdir(join(folder, "test/empty"));

  const empty = await run(...RUN, "test/empty");
  const absent = await run(...RUN, "test/absent");

  assert.deepEqual(empty, { code: 1, output: "test: there are no tests in test/empty\n" });
  assert.deepEqual(absent, { code: 1, output: "test: there is no test/absent\n" });
});

test("a file whose tests did not run fails the run", async (t) => {
  const { folder, run } = await emptyRepository(t);
  await mkdir(join(folder, "test/a"), { recursive: true });
  await writeFile(join(folder, "test/a/none.test.ts"), 'console.log("no test");');

  const { code, output } = await run(...RUN, "test/a");

  assert.equal(code, 1);
  assert.match(output, /^✖ test\/a\/none\.test\.ts: none of its tests ran$/m);
});

test("a repeated file that passes the second time is named, and one that fails twice fails the run", async (t) => {
  const { folder, run } = await emptyRepository(t);
  await mkdir(join(folder, "test/a"), { recursive: true });
  const unsteady = `import { test } from "node:test";
    import { existsSync, writeFileSync } from "node:fs";
    test("fails first", () => {
      if (existsSync("tried")) return;
      writeFileSync("tried", "");
      throw new Error("the first time");
    });`;
  await writeFile(join(folder, "test/a/unsteady.test.ts"), unsteady);

  const repeated = await run(...RUN, "test/a", "--repeat");
  await writeFile(
    join(folder, "test/a/bad.test.ts"),
    'import { test } from "node:test"; test("fails", () => { throw new Error("again"); });',
  );
  const bad = await run(...RUN, "test/a", "--repeat");

  assert.equal(repeated.code, 0, repeated.output);
  assert.match(repeated.output, /Error: the first time/);
  assert.match(repeated.output, /^unsteady: test\/a\/unsteady\.test\.ts failed/m);
  assert.match(repeated.output, /pass 1$/m);
  assert.equal(bad.code, 1);
  assert.match(bad.output, /fail 1$/m);
});

test("the tests below a path run, and one that fails fails the run", async (t) => {
  const { folder, run } = await emptyRepository(t);
  await mkdir(join(folder, "test/a/b"), { recursive: true });
  const source = (check: string) => `import { test } from "node:test";
    import assert from "node:assert/strict";
    test("counts", () => assert.equal(1 + 1, ${check}));`;
  await writeFile(join(folder, "test/a/b/good.test.ts"), source("2"));
  await writeFile(join(folder, "test/a/bad.test.ts"), source("3"));

  const good = await run(...RUN, "test/a/b");
  const both = await run(...RUN, "test/a");

  assert.equal(good.code, 0, good.output);
  assert.match(good.output, /pass 1$/m);
  assert.equal(both.code, 1);
  assert.match(both.output, /fail 1$/m);
});
