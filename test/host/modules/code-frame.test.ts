import assert from "node:assert/strict";
import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { build } from "esbuild";
import { locationInStack, toReloadFailure } from "../../../host/modules/build/code-frame.ts";
import { cpuMsOf } from "../../helpers/cpu-time.ts";
import { emptyFolder } from "../../helpers/folder.ts";

test("an esbuild error is reported with file, line, column and frame", async (t) => {
  const folder = await emptyFolder(t);
  await writeFile(join(folder, "lamp.ts"), "const one = 1;\nconst two = ;\nconst three = 3;\n");

  const error: unknown = await build({
    entryPoints: [join(folder, "lamp.ts")],
    write: false,
    logLevel: "silent",
  }).catch((failure: unknown) => failure);
  const { code, extras, message } = toReloadFailure(error, folder);

  assert.equal(code, "reload_failed");
  assert.equal(message, 'Unexpected ";"');
  assert.deepEqual(extras.location, {
    file: "lamp.ts",
    line: 2,
    column: 13,
    frame: [
      "  1 | const one = 1;",
      "> 2 | const two = ;",
      "    |             ^",
      "  3 | const three = 3;",
      "  4 | ",
    ].join("\n"),
  });
});

test("a failure of another kind keeps its first line", () => {
  const failure = toReloadFailure(new Error("the disk is on fire\nat once"), "/nowhere");

  assert.equal(failure.message, "the build failed: the disk is on fire");
  assert.equal(failure.extras.location, undefined);
});

test("the first place of a stack in the author's folder is the one that is shown", async (t) => {
  const folder = join(await emptyFolder(t), "my plugins (new)");
  await mkdir(folder);
  await writeFile(join(folder, "lamp.ts"), 'throw new Error("boom");\n');
  const stack = [
    "Error: boom",
    "    at wrap (/elsewhere/sdk.ts:9:9)",
    `    at Object.start (${folder}/lamp.ts:1:7)`,
    `    at load (${folder}/other.ts:5:1)`,
  ].join("\n");

  const location = locationInStack(stack, folder);

  assert.equal(location?.file, "lamp.ts");
  assert.deepEqual([location?.line, location?.column], [1, 7]);
  assert.equal(locationInStack("Error: boom\n    at node:internal:1:1", folder), undefined);
});

test("a stack outside the plugin's folder shows no content of other files", async (t) => {
  const home = await emptyFolder(t);
  const folder = join(home, "plugin");
  await mkdir(folder);
  await writeFile(join(home, "keys.json"), "the secret");
  await symlink("/dev/zero", join(folder, "endless.ts"));
  await symlink("../keys.json", join(folder, "linked.ts"));

  for (const path of ["../keys.json", "linked.ts", "endless.ts", "../../../../../../../dev/zero"]) {
    assert.equal(
      locationInStack(`Error\n    at x (${folder}/${path}:1:1)`, folder),
      undefined,
      path,
    );
  }
});

test("a column beyond the line is shown at the line's end", async (t) => {
  const folder = await emptyFolder(t);
  await writeFile(join(folder, "lamp.ts"), "const one = 1;\n");

  for (const column of ["0", "999999999", "9".repeat(400)]) {
    const place = locationInStack(`at x (${folder}/lamp.ts:1:${column})`, folder);
    assert.ok((place?.frame.length ?? 0) < 100);
  }
});

test("a line that resembles many stack frames is parsed quickly", () => {
  const usedMs = cpuMsOf(() => {
    const lines = `${"(/".repeat(500_000)}\n${":1".repeat(500_000)}`;
    assert.equal(locationInStack(lines, "/"), undefined);
    assert.equal(locationInStack(`${"(/".repeat(50_000)}:1:1`, "/x"), undefined);
  });

  assert.ok(usedMs < 1_000, `${usedMs} ms`);
});
