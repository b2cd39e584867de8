import assert from "node:assert/strict";
import { mkdir, mkdtemp, readFile, rename, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test, type TestContext } from "node:test";
import type { SourceChange } from "@mantel/plugin-sdk/sources";
import { endBuildService } from "../../../host/build-service.ts";
import { SourceFolder } from "../../../host/modules/sources/source-folder.ts";
import { SourceFollower } from "../../../host/modules/sources/source-folders.ts";
import { collectedLog } from "../../helpers/collected-log.ts";
import { removeFolder } from "../../helpers/folder.ts";
import { until } from "../../helpers/until.ts";

after(() => endBuildService());

async function openFolder(t: TestContext, files: Readonly<Record<string, string>> = {}) {
  const data = await mkdtemp(join(tmpdir(), "mantel-sources-"));
  const folder = join(data, "automations");
  await mkdir(folder);
  /** Replaces a file at once: written in place it could be compiled while it is empty. */
  const write = async (name: string, text: string) => {
    await writeFile(join(data, "written"), text);
    await rename(join(data, "written"), join(folder, name));
  };
  for (const [name, text] of Object.entries(files)) await write(name, text);
  const sources = new SourceFolder(folder, collectedLog());
  const changes: SourceChange[] = [];
  sources.on((change) => changes.push(change));
  t.after(async () => {
    sources.close();
    await removeFolder(data);
  });
  /** The next change of the file whose code has the text; a file that is just created may be compiled twice. */
  const next = async (name: string, kind: SourceChange["kind"], text = "") => {
    const found = () =>
      changes.find(
        (each) => each.name === name && each.kind === kind && codeOf(each).includes(text),
      );
    await until(() => found() !== undefined);
    const change = found();
    changes.length = 0;
    return change;
  };
  return { data, folder, write, sources, changes, next };
}

const codeOf = (change: SourceChange | undefined) =>
  change?.kind === "compiled" ? change.source.code : "";
const faultOf = (change: SourceChange | undefined) =>
  change?.kind === "faulty" ? change.fault : undefined;

test("each file is compiled, and again when it is saved; the others are left alone", async (t) => {
  const { sources, write, next, changes } = await openFolder(t, {
    "one.ts": 'import { when } from "mantel"; when(1 as number);',
    "two.ts": "export const two: number = 2;",
    "home.d.ts": "declare const home: string;",
    "one.test.ts": "throw new Error('a test');",
  });
  const present = await sources.present();
  assert.deepEqual(present.map(({ name }) => name).toSorted(), ["one.ts", "two.ts"]);
  assert.match(codeOf(present.find(({ name }) => name === "one.ts")), /require\("mantel"\)/);
  changes.length = 0;
  await write("two.ts", "export const three = 3;");
  assert.match(codeOf(await next("two.ts", "compiled")), /three = 3/);
  assert.deepEqual(changes, []);
});

test("a file that does not compile has a fault with its place, and keeps its last good code", async (t) => {
  const { sources, write, next } = await openFolder(t, { "one.ts": "export const good = 1;" });
  await sources.present();
  await write("one.ts", "const a = 1;\nconst b = ;\n");
  const fault = faultOf(await next("one.ts", "faulty"));
  assert.match(fault?.message ?? "", /^syntax error: unexpected/);
  assert.deepEqual([fault?.file, fault?.line], ["one.ts", 2]);
  const [good, faulty] = await sources.present();
  assert.match(codeOf(good), /good = 1/);
  assert.equal(faulty?.kind, "faulty");
});

test("packages, modules of Node and files outside the folder cannot be imported", async (t) => {
  const { data, folder, write, sources } = await openFolder(t);
  await writeFile(join(data, "secret.ts"), "export const secret = 1;");
  await symlink(join(data, "secret.ts"), join(folder, "linked.ts"));
  await write("npm.ts", 'import "lodash";');
  await write("node.ts", 'import "node:fs";');
  await write("out.ts", 'import "../secret.ts";');
  await until(async () => (await sources.present()).length === 4);
  const faults = (await sources.present()).map((each) => `${each.name}: ${faultOf(each)?.message}`);
  const allowed = 'import "mantel" and files of this folder only';
  assert.deepEqual(faults.toSorted(), [
    "linked.ts: ../secret.ts is outside the folder",
    `node.ts: node:fs cannot be imported here; ${allowed}`,
    `npm.ts: lodash cannot be imported here; ${allowed}`,
    "out.ts: ../secret.ts is outside the folder",
  ]);
});

test("a file is compiled again when a file that it imports changes, or appears", async (t) => {
  const { folder, write, sources, next } = await openFolder(t, {
    "one.ts": 'import { text } from "./lib/text.ts"; console.log(text);',
  });
  assert.match(faultOf((await sources.present())[0])?.message ?? "", /cannot find \.\/lib\/text/);
  await mkdir(join(folder, "lib"));
  await write("lib/text.ts", 'export const text = "first";');
  assert.match(codeOf(await next("one.ts", "compiled")), /first/);
  await write("lib/text.ts", 'export const text = "second";');
  await next("one.ts", "compiled", "second");
});

test("deleted, renamed and new files are noticed", async (t) => {
  const { folder, write, sources, next } = await openFolder(t, { "one.ts": "export {};" });
  await sources.present();
  await rename(join(folder, "one.ts"), join(folder, "two.ts"));
  await next("two.ts", "compiled");
  assert.deepEqual(
    (await sources.present()).map(({ name }) => name),
    ["two.ts"],
  );
  await rm(join(folder, "two.ts"));
  await next("two.ts", "deleted");
  await write("three.ts", "export {};");
  await next("three.ts", "compiled");
});

test("a plugin writes declarations for editors, a tsconfig.json only once, and nothing else", async (t) => {
  const { folder, sources, changes } = await openFolder(t);
  await sources.describe({ "home.d.ts": "one", "tsconfig.json": "{}" });
  await sources.describe({ "home.d.ts": "two", "tsconfig.json": "[]" });
  assert.equal(await readFile(join(folder, "home.d.ts"), "utf8"), "two");
  assert.equal(await readFile(join(folder, "tsconfig.json"), "utf8"), "{}");
  await assert.rejects(sources.describe({ "evening.ts": "" }), { code: "invalid" });
  await assert.rejects(sources.describe({ "../home.d.ts": "" }), { code: "invalid" });
  assert.deepEqual(changes, []);
});

test("a process gets the present files first, and of a file that changes often only the newest waits", async (t) => {
  const { write, sources, next, changes } = await openFolder(t, {
    "one.ts": "export const at = 1;",
  });
  const delivered: string[] = [];
  let release: () => void = () => undefined;
  const follower = new SourceFollower(sources, async (change) => {
    delivered.push(codeOf(change));
    await new Promise<void>((resolve) => (release = resolve));
  });
  const begun = follower.begin();
  await until(() => delivered.length === 1);
  changes.length = 0;
  for (const at of [2, 3]) {
    await write("one.ts", `export const at = ${at};`);
    assert.match(codeOf(await next("one.ts", "compiled")), new RegExp(`at = ${at}`));
  }
  release();
  await until(() => delivered.length === 2);
  release();
  await begun;
  assert.match(delivered.at(-1) ?? "", /at = 3/);
  follower.close();
});

test("a file is added and built; another name, and a file that is there, are refused", async (t) => {
  const { sources, folder, next } = await openFolder(t, { "one.ts": "export const one = 1;" });
  await sources.present();

  await sources.add("two.ts", "export const two: number = 2;");

  assert.match(codeOf(await next("two.ts", "compiled")), /two/);
  await assert.rejects(sources.add("one.ts", ""), { code: "conflict" });
  assert.equal(await readFile(join(folder, "one.ts"), "utf8"), "export const one = 1;");
  for (const name of ["../up.ts", "home.d.ts", "one.test.ts", "a/b.ts", ".ts", "one.js"]) {
    await assert.rejects(sources.add(name, ""), { code: "invalid" }, name);
  }
});
