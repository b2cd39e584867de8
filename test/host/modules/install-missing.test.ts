import assert from "node:assert/strict";
import { mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { test, type TestContext } from "node:test";
import type { MantelError } from "@mantel/plugin-sdk/errors";
import { installMissing } from "../../../host/modules/build/install.ts";
import { fakeNpm, type NpmScripts } from "../../helpers/fake-npm.ts";
import { emptyFolder } from "../../helpers/folder.ts";

/** Installs a package, as npm does, and keeps the package.json that it was given. */
const INSTALL = "mkdir -p node_modules/wordy; cp package.json node_modules/wordy/asked.json";
const VERIFIED = "printf '{\\n}\\n'";
const audit = (report: object) => `printf '%s\\n' '${JSON.stringify(report, undefined, 1)}'`;
const WORDY = [{ name: "wordy", version: "1.0.0" }];

/** A plugin's folder whose package.json has these dependencies. */
async function openPlugin(
  t: TestContext,
  dependencies: Readonly<Record<string, string>> | undefined,
  scripts: NpmScripts = {},
) {
  const npm = await fakeNpm(t, { install: INSTALL, audit: VERIFIED, ...scripts });
  const folder = join(await emptyFolder(t), "plugin");
  const write = async (file: string, text: string): Promise<void> => {
    await mkdir(dirname(join(folder, file)), { recursive: true });
    await writeFile(join(folder, file), text);
  };
  await write("package.json", JSON.stringify({ dependencies }));
  const steps: (string | undefined)[] = [];
  const warnings: object[] = [];
  const installIt = () =>
    installMissing(folder, {
      progress: (sentence) => steps.push(sentence),
      warn: (sentence, fields) => warnings.push({ sentence, ...fields }),
    });
  const has = (version: string, place = "") =>
    write(`${place}node_modules/wordy/package.json`, JSON.stringify({ version }));
  return { npm, folder, write, steps, warnings, installIt, has };
}

test("missing packages are installed and their signatures verified, with each step shown", async (t) => {
  const { npm, folder, steps, warnings, installIt, write } = await openPlugin(t, {
    wordy: "^1.0.0",
    "@scope/other": "2",
    "@mantel/plugin-sdk": "*",
  });
  await write("node_modules/stale/package.json", "{}");
  await write(".mantel-install/node_modules/interrupted/package.json", "{}");

  await installIt();

  const names = "wordy@^1.0.0, @scope/other@2";
  assert.deepEqual(steps, [
    `installing ${names}`,
    `verifying the signatures of ${names}`,
    undefined,
  ]);
  assert.deepEqual(warnings, []);
  assert.equal((await npm.calls()).length, 2);
  assert.deepEqual((await readdir(folder)).toSorted(), ["node_modules", "package.json"]);
  assert.deepEqual(await readdir(join(folder, "node_modules")), ["wordy"]);
  const asked = JSON.parse(await readFile(join(folder, "node_modules/wordy/asked.json"), "utf8"));
  assert.deepEqual(asked, {
    private: true,
    dependencies: { wordy: "^1.0.0", "@scope/other": "2" },
  });
});

for (const [what, version, range, isEnough] of [
  ["a version in the range", "1.2.3", "^1.0.0", true],
  ["a version outside the range", "2.0.0", "^1.0.0", false],
  ["no version", "", "^1.0.0", false],
  ["any version of a package from a file", "0.0.1", "file:packages/wordy", true],
] as const) {
  test(`an installed package with ${what} is ${isEnough ? "kept" : "installed again"}`, async (t) => {
    const { npm, steps, installIt, has } = await openPlugin(t, { wordy: range });
    await has(version);

    await installIt();

    assert.equal((await npm.calls()).length === 0, isEnough);
    assert.equal(steps.length === 0, isEnough);
  });
}

test("a package in a folder above the plugin counts as installed", async (t) => {
  const { npm, installIt, has } = await openPlugin(t, { wordy: "^1.0.0" });
  await has("1.0.0", "../");

  await installIt();

  assert.deepEqual(await npm.calls(), []);
});

test("a linked package is never replaced", async (t) => {
  const { npm, installIt, folder, write } = await openPlugin(t, { wordy: "^1.0.0" });
  await write("../wordy/package.json", '{ "version": "9.0.0" }');
  await mkdir(join(folder, "node_modules"));
  await symlink(join(folder, "../wordy"), join(folder, "node_modules/wordy"));

  await installIt();

  assert.deepEqual(await npm.calls(), []);
});

test("a plugin without dependencies needs no npm", async (t) => {
  const { npm, installIt } = await openPlugin(t, undefined);

  await installIt();

  assert.deepEqual(await npm.calls(), []);
});

test("a package from a file is found from the plugin's folder and has no signature", async (t) => {
  const { npm, folder, installIt, steps } = await openPlugin(t, { wordy: "file:packages/wordy" });

  await installIt();

  const path = `file:${folder}/packages/wordy`;
  const asked = JSON.parse(await readFile(join(folder, "node_modules/wordy/asked.json"), "utf8"));
  assert.deepEqual((asked as { dependencies: object }).dependencies, { wordy: path });
  assert.equal((await npm.calls()).length, 1);
  assert.deepEqual(steps, [`installing wordy@${path}`, undefined]);
});

test("signatures are verified if any package is from a registry", async (t) => {
  const { npm, installIt } = await openPlugin(t, { wordy: "file:packages/wordy", other: "1" });

  await installIt();

  assert.equal((await npm.calls()).length, 2);
});

for (const [what, script, warning] of [
  [
    "packages without a signature",
    audit({ missing: WORDY }),
    { sentence: "packages have no registry signature", packages: ["wordy@1.0.0"] },
  ],
  [
    "signatures that cannot be verified",
    audit({ error: { summary: "it is away" } }),
    { sentence: "could not verify the signatures of packages", reason: "it is away" },
  ],
] as const) {
  test(`${what} are installed with a warning`, async (t) => {
    const { folder, warnings, installIt } = await openPlugin(t, { wordy: "1" }, { audit: script });

    await installIt();

    assert.deepEqual(warnings, [warning]);
    assert.deepEqual(await readdir(join(folder, "node_modules")), ["wordy"]);
  });
}

for (const [what, scripts, message] of [
  [
    "an invalid signature",
    { audit: audit({ invalid: WORDY }) },
    "invalid registry signature: wordy@1.0.0; nothing was run or kept",
  ],
  [
    "a failed installation",
    { install: `${INSTALL}; echo 'no such package'; exit 1` },
    "npm could not install the packages: no such package",
  ],
] as const) {
  test(`${what} leaves the packages installed before`, async (t) => {
    const { folder, write, steps, installIt } = await openPlugin(t, { wordy: "1" }, scripts);
    await write("node_modules/older/package.json", "{}");

    await assert.rejects(installIt(), ({ code, message: text }: MantelError) => {
      assert.deepEqual([code, text], ["reload_failed", message]);
      return true;
    });

    assert.equal(steps.at(-1), undefined);
    assert.deepEqual((await readdir(folder)).toSorted(), ["node_modules", "package.json"]);
    assert.deepEqual(await readdir(join(folder, "node_modules")), ["older"]);
  });
}

test("the number of fetched packages is shown every two seconds", async (t) => {
  const now = t.mock.method(performance, "now");
  let nowMs = 0;
  now.mock.mockImplementation(() => (nowMs += 1_500));
  const fetched = "npm http fetch GET 200 http://localhost/wordy-1.0.0.tgz 5ms";
  const install = `for each in 1 2 3 4 5; do echo '${fetched}'; done; ${INSTALL}`;
  const { steps, installIt } = await openPlugin(t, { wordy: "1" }, { install });

  await installIt();

  const counts = steps.flatMap(
    (step) => /^installing wordy@1: (\d+) packages fetched$/.exec(step ?? "")?.[1] ?? [],
  );
  assert.deepEqual(counts, ["2", "4"]);
});
