import assert from "node:assert/strict";
import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { test } from "node:test";
import { build } from "esbuild";
import { toReloadFailure } from "../../../host/modules/build/compiler-errors.ts";
import {
  codeFrame,
  locationInStack,
  locationOfText,
} from "../../../host/modules/errors/code-frame.ts";
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
  assert.equal(message, 'syntax error: unexpected ";"');
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

test("a frame shows two lines before and after, with numbers of one width", () => {
  const source = Array.from({ length: 12 }, (_, at) => `line ${at + 1}`).join("\n");

  assert.equal(
    codeFrame(source, { line: 9, column: 6 }),
    [
      "   7 | line 7",
      "   8 | line 8",
      ">  9 | line 9",
      "     |      ^",
      "  10 | line 10",
      "  11 | line 11",
    ].join("\n"),
  );
});

for (const [line, first, last] of [
  [1, "> 1 | a", "  3 | c"],
  [3, "  1 | a", "> 3 | c\n    | ^"],
  [4, "  2 | b", "  3 | c"],
] as const) {
  test(`a frame at line ${line} of 3 has only lines that exist`, () => {
    const frame = codeFrame("a\nb\nc", { line, column: 1 });

    assert.ok(frame.startsWith(`${first}\n`), frame);
    assert.ok(frame.endsWith(`\n${last}`), frame);
  });
}

const message = (text: string, more: object = {}) => ({
  errors: [{ text, notes: [], location: null, ...more }],
});

for (const [what, failure, expected] of [
  ["a note", message("no x", { notes: [{ text: "use y\nas here" }] }), "no x"],
  ["an empty note", message("no x", { notes: [{ text: "" }] }), "no x"],
  ["no note", message("no x"), "no x"],
] as const) {
  test(`an esbuild error with ${what} becomes "${expected}"`, () => {
    const error = toReloadFailure(failure, "/nowhere");

    assert.deepEqual([error.message, error.extras.location], [expected, undefined]);
    assert.equal(error.cause, failure);
  });
}

test("an error in a file that no longer exists shows the line that esbuild gives", () => {
  const location = { file: "/nowhere/one/lamp.ts", line: 1, column: 6, lineText: "const = 1;" };

  const { extras } = toReloadFailure(message("no name", { location }), "/nowhere/one");

  assert.deepEqual(extras.location, {
    file: "lamp.ts",
    line: 1,
    column: 7,
    frame: "> 1 | const = 1;\n    |       ^",
  });
});

test("a path of esbuild is relative to the working directory", () => {
  const file = "test/helpers/line.ts";
  const failure = message("no", { location: { file, line: 1, column: 0, lineText: "" } });

  const { extras } = toReloadFailure(failure, resolve("test"));

  assert.equal(extras.location?.file, "helpers/line.ts");
  assert.match(extras.location?.frame ?? "", /^> 1 \| .+\n/);
});

test("a failure of another kind keeps its first line", () => {
  const failure = toReloadFailure(new Error("the disk is on fire\nat once"), "/nowhere");

  assert.equal(failure.message, "the build failed: the disk is on fire");
  assert.equal(failure.extras.location, undefined);
  assert.equal(toReloadFailure("no\nmore", "/nowhere").message, "the build failed: no");
  for (const odd of [undefined, { errors: [] }]) {
    assert.match(toReloadFailure(odd, "/nowhere").message, /^the build failed: /);
  }
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

  for (const path of [
    "absent.ts",
    "../keys.json",
    "linked.ts",
    "endless.ts",
    "../../../../../../../dev/zero",
  ]) {
    assert.equal(
      locationInStack(`Error\n    at x (${folder}/${path}:1:1)`, folder),
      undefined,
      path,
    );
  }
});

test("a stack's packages are skipped, and its URLs and function names are read", async (t) => {
  const folder = await emptyFolder(t);
  await mkdir(join(folder, "node_modules/parcel"), { recursive: true });
  await writeFile(join(folder, "node_modules/parcel/index.js"), "throw 1;\n");
  await writeFile(join(folder, "lamp.ts"), "one;\ntwo;\nthree;\nfour;\n");
  const inPackage = `    at x (${folder}/node_modules/parcel/index.js:1:1)`;
  const inFolder = `    at x (${folder}:1:1)`;

  for (const frame of [
    `    at file://${folder}/lamp.ts:3:2`,
    `    at async start (file://${folder}/lamp.ts:3:2)`,
    `    at ${folder}/lamp.ts:3:2  `,
  ]) {
    assert.deepEqual(
      locationInStack(["Error: no", inPackage, inFolder, frame].join("\n"), folder),
      {
        file: "lamp.ts",
        line: 3,
        column: 2,
        frame: "  1 | one;\n  2 | two;\n> 3 | three;\n    |  ^\n  4 | four;\n  5 | ",
      },
      frame,
    );
  }
});

test("a source of more than 2 MiB is not read for a frame", async (t) => {
  const folder = await emptyFolder(t);
  const sizes = { "largest.ts": 2 * 2 ** 20, "larger.ts": 2 * 2 ** 20 + 1 };
  for (const [name, size] of Object.entries(sizes)) {
    await writeFile(join(folder, name), "/".repeat(size));
  }

  const found = (name: string) => locationInStack(`at x (${folder}/${name}:1:1)`, folder)?.file;

  assert.deepEqual([found("largest.ts"), found("larger.ts")], ["largest.ts", undefined]);
});

test("the folder of a plugin may be reached through a link", async (t) => {
  const home = await emptyFolder(t);
  await mkdir(join(home, "real"));
  await writeFile(join(home, "real/lamp.ts"), "one;\n");
  await symlink(join(home, "real"), join(home, "linked"));

  const location = locationInStack(`at x (${home}/linked/lamp.ts:1:1)`, join(home, "linked"));

  assert.equal(location?.file, "lamp.ts");
});

test("a text is located in a source file; without it, the first line is shown", async (t) => {
  const folder = await emptyFolder(t);
  const file = join(folder, "lamp.ts");
  await writeFile(file, 'one;\nimport "parcel";\nimport "parcel";\n');

  const place = (text: string) => {
    const { line, column, file: name } = locationOfText(file, text, folder) ?? {};
    return [name, line, column];
  };

  assert.deepEqual(place("parcel"), ["lamp.ts", 2, 9]);
  assert.deepEqual(place("absent"), ["lamp.ts", 1, 1]);
  assert.match(locationOfText(file, "parcel", folder)?.frame ?? "", /^> 2 \| import "parcel";$/m);
  assert.equal(locationOfText(join(folder, "none.ts"), "x", folder), undefined);
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
