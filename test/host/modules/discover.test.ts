import assert from "node:assert/strict";
import { mkdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { MantelError } from "@mantel/plugin-sdk/errors";
import { discover } from "../../../host/modules/manifest/discover.ts";
import {
  linkedFolders,
  linkedPackage,
  usesLink,
} from "../../../host/modules/manifest/linked-packages.ts";
import { readShipped } from "../../../host/modules/manifest/shipped.ts";
import { InvalidPlugins } from "../../../host/modules/state/invalid-plugins.ts";
import { collectedLog } from "../../helpers/collected-log.ts";
import { emptyFolder } from "../../helpers/folder.ts";

const manifest = (id: string) =>
  JSON.stringify({ mantel: { id, kinds: ["service"], server: "index.ts" } });

/** Makes folders with the manifest of a plugin, by their path in an empty folder. */
async function makePlugins(t: TestContext, plugins: Readonly<Record<string, string>>) {
  const home = await emptyFolder(t);
  for (const [path, id] of Object.entries(plugins)) {
    await mkdir(join(home, path), { recursive: true });
    await writeFile(join(home, path, "package.json"), manifest(id));
  }
  return home;
}
const noLinks = () => false;

test("every folder of a root with a manifest is a plugin", async (t) => {
  const home = await makePlugins(t, { "a/lamp": "lamp", "a/clock": "clock" });
  await writeFile(join(home, "a/notes.txt"), "");
  await writeFile(join(home, "a/notes"), "");
  await mkdir(join(home, "a/.git"));

  const { plugins, broken } = await discover([join(home, "a")], { allowsLink: noLinks });

  assert.deepEqual([...plugins.keys()], ["clock", "lamp"]);
  assert.equal(plugins.get("lamp")?.folder, join(home, "a/lamp"));
  assert.deepEqual(broken, []);
});

test("for the same id the plugin of a later root wins", async (t) => {
  const home = await makePlugins(t, { "a/lamp": "lamp", "b/lamp": "lamp" });
  const roots = [join(home, "a"), join(home, "b")];

  const { plugins, broken } = await discover(roots, { allowsLink: noLinks });

  assert.equal(plugins.get("lamp")?.folder, join(home, "b/lamp"));
  assert.deepEqual(broken, []);
});

test("for the same id in one root the first folder wins, and the other is invalid with the fix", async (t) => {
  const home = await makePlugins(t, { zebra: "lamp", ant: "lamp" });

  const { plugins, broken } = await discover([home], { allowsLink: noLinks });

  assert.equal(plugins.get("lamp")?.folder, join(home, "ant"));
  assert.deepEqual(
    broken.map(({ name, folder, error }) => [name, folder, error.code, error.message]),
    [
      [
        "zebra",
        join(home, "zebra"),
        "invalid",
        `${join(home, "zebra")} and ${join(home, "ant")} both have the id lamp; change "mantel.id" in one of them`,
      ],
    ],
  );
});

test("of two folders of one root with the same id the one that ran last wins, also while its manifest is broken", async (t) => {
  const home = await makePlugins(t, { "a/zebra": "lamp", "a/ant": "lamp" });
  const [zebra, ant] = [join(home, "a/zebra"), join(home, "a/ant")];
  const alone = await discover([join(home, "a")], { allowsLink: noLinks });
  const lastRun = [...alone.plugins.values()].map((plugin) => ({ ...plugin, folder: zebra }));
  const find = async (...roots: string[]) => {
    const paths = roots.map((root) => join(home, root));
    const { plugins, broken } = await discover(paths, {
      allowsLink: noLinks,
      lastRun: () => lastRun,
    });
    return {
      folder: plugins.get("lamp")?.folder,
      errors: broken.map(({ error }) => error.message),
    };
  };
  const duplicate = `${ant} and ${zebra} both have the id lamp; change "mantel.id" in one of them`;

  assert.deepEqual(await find("a"), { folder: zebra, errors: [duplicate] });

  await writeFile(join(zebra, "package.json"), "{");
  const torn = await find("a");
  assert.equal(torn.folder, undefined);
  assert.deepEqual(torn.errors.slice(0, 1), [duplicate]);

  await writeFile(join(zebra, "package.json"), manifest("clock"));
  assert.deepEqual(await find("a"), { folder: ant, errors: [] });

  await rm(zebra, { recursive: true });
  assert.deepEqual(await find("a"), { folder: ant, errors: [] });
});

test("a later root wins on the same id also over the folder that ran last", async (t) => {
  const home = await makePlugins(t, { "a/lamp": "lamp", "b/lamp": "lamp" });
  const { plugins } = await discover([join(home, "a")], { allowsLink: noLinks });
  const lastRun = [...plugins.values()];
  const roots = [join(home, "a"), join(home, "b")];

  const found = await discover(roots, { allowsLink: noLinks, lastRun: () => lastRun });

  assert.equal(found.plugins.get("lamp")?.folder, join(home, "b/lamp"));
  assert.deepEqual(found.broken, []);
});

test("a folder with an unreadable manifest is invalid with its reason", async (t) => {
  const home = await makePlugins(t, { lamp: "lamp" });
  await mkdir(join(home, "odd/package.json"), { recursive: true });
  await mkdir(join(home, "torn"));
  await writeFile(join(home, "torn/package.json"), "{");

  const { plugins, broken } = await discover([home], { allowsLink: noLinks });

  assert.deepEqual([...plugins.keys()], ["lamp"]);
  const reasons = Object.fromEntries(broken.map(({ name, error }) => [name, error]));
  assert.match(reasons["odd"]?.message ?? "", /\/odd cannot be read: EISDIR/);
  assert.equal(reasons["odd"]?.code, "invalid");
  assert.match(reasons["torn"]?.message ?? "", /package\.json is not JSON/);
  assert.ok(reasons["odd"]?.cause instanceof Error);
});

test("an npm package and a copy that has just begun are not plugins, and not invalid", async (t) => {
  const home = await makePlugins(t, { lamp: "lamp" });
  await mkdir(join(home, "begun"));
  await mkdir(join(home, "leftpad"));
  await writeFile(join(home, "leftpad/package.json"), '{ "name": "leftpad" }');

  const { plugins, broken, others } = await discover([home], { allowsLink: noLinks });

  assert.deepEqual([...plugins.keys()], ["lamp"]);
  assert.deepEqual(broken, []);
  assert.deepEqual(
    others.map(({ name, error }) => [name, error.message]),
    [
      ["begun", `${join(home, "begun")} has no package.json`],
      [
        "leftpad",
        `${join(home, "leftpad/package.json")} has no "mantel" key, which every plugin needs`,
      ],
    ],
  );
});

test("an installed package is a plugin, unless a plugin folder has its id", async (t) => {
  const home = await makePlugins(t, {
    "root/lamp": "lamp",
    "in/lamp": "lamp",
    "in/clock": "clock",
  });
  const packages = ["lamp", "clock", "gone"].map((id) => {
    return { id, folder: join(home, "in", id), isLinked: false };
  });

  const { plugins, broken } = await discover([join(home, "root")], {
    allowsLink: noLinks,
    packages,
  });

  assert.equal(plugins.get("clock")?.folder, join(home, "in/clock"));
  assert.equal(plugins.get("lamp")?.folder, join(home, "root/lamp"));
  assert.deepEqual(
    broken.map(({ name }) => name),
    ["lamp", "gone"],
  );
  assert.match(broken[0]?.error.message ?? "", /in\/lamp and .*root\/lamp both have the id lamp/);
});

test("of two plugins with one bridge kind the second is refused by the names of both", async (t) => {
  const home = await emptyFolder(t);
  for (const id of ["ant", "bee", "cat"]) {
    const bridge = { kind: id === "cat" ? "other" : "lamp", commandsPerSecond: 1 };
    await mkdir(join(home, id));
    const mantel = { id, kinds: ["bridge"], server: "index.ts", bridge };
    await writeFile(join(home, id, "package.json"), JSON.stringify({ mantel }));
  }

  const { plugins, broken } = await discover([home], { allowsLink: noLinks });
  const both = await discover([home], { allowsLink: noLinks, isShippedId: () => true });

  assert.deepEqual([...plugins.keys()], ["ant", "cat"]);
  assert.match(broken[0]?.error.message ?? "", /^bee and ant both have the bridge kind lamp/);
  assert.deepEqual(both.broken, [], "those that ship were tested together");
});

for (const name of ["zigbee2mqtt", "home-assistant"]) {
  test(`a copy of ${name} needs another id and another bridge kind`, async (t) => {
    const home = await emptyFolder(t);
    const plugins = join(import.meta.dirname, "../../../plugins");
    const { isShippedId } = await readShipped(plugins);
    const text = await readFile(join(plugins, name, "package.json"), "utf8");
    const saveAs = async (id: string, kind?: string) => {
      const { mantel, ...rest } = JSON.parse(text);
      const bridge = { ...mantel.bridge, ...(kind !== undefined && { kind }) };
      await mkdir(join(home, id), { recursive: true });
      const copy = { ...rest, mantel: { ...mantel, id, bridge } };
      await writeFile(join(home, id, "package.json"), JSON.stringify(copy));
    };
    await saveAs(name);
    await saveAs("second");
    const sameKind = await discover([home], { allowsLink: noLinks, isShippedId });
    await saveAs("second", "second");
    const otherKind = await discover([home], { allowsLink: noLinks, isShippedId });

    assert.match(sameKind.broken[0]?.error.message ?? "", / and .+ both have the bridge kind /);
    assert.deepEqual([...otherKind.plugins.keys()].toSorted(), [name, "second"].toSorted());
    assert.deepEqual(otherKind.broken, []);
  });
}

test("a link is a plugin only if it is allowed by its name, and then in its real folder", async (t) => {
  const home = await makePlugins(t, { "elsewhere/lamp": "lamp", "elsewhere/clock": "clock" });
  await mkdir(join(home, "root"));
  await symlink(join(home, "elsewhere/lamp"), join(home, "root/my-lamp"));
  await symlink(join(home, "elsewhere/clock"), join(home, "root/my-clock"));

  const { plugins, broken } = await discover([join(home, "root")], {
    allowsLink: (name) => name === "my-lamp",
  });

  assert.equal(plugins.get("lamp")?.folder, join(home, "elsewhere/lamp"));
  const link = join(home, "root/my-clock");
  assert.deepEqual(
    broken.map(({ folder, error }) => [folder, error.message]),
    [[link, `${link} is a link; set modules.my-clock.links to true in the config to allow it`]],
  );
});

const invalid = (name: string, message: string) => ({
  name,
  folder: `/plugins/${name}`,
  error: new MantelError("invalid", message, { errors: [{ pointer: "/a", detail: "is wrong" }] }),
});

test("each fault of an invalid folder is logged once, and again when it is another one", () => {
  const log = collectedLog();
  const folders = new InvalidPlugins(log);

  folders.replace([invalid("lamp", "no id")]);
  folders.replace([invalid("lamp", "no id")]);
  folders.replace([invalid("lamp", "no entry")]);

  assert.deepEqual(
    log.records.map(({ level, sentence, fields }) => [level, sentence, fields]),
    ["no id", "no entry"].map((error) => [
      "error",
      "invalid plugin folder",
      { folder: "/plugins/lamp", error, faults: [{ pointer: "/a", detail: "is wrong" }] },
    ]),
  );
});

test("a folder is invalid with its reason until it is mended", () => {
  const folders = new InvalidPlugins(collectedLog());
  const lamp = invalid("lamp", "no id");

  folders.replace([lamp]);
  assert.equal(folders.errorOf("/plugins/lamp"), lamp.error);
  folders.replace([]);

  assert.equal(folders.errorOf("/plugins/lamp"), undefined);
});

test("invalid folders are listed under their names, unless their last good version runs", () => {
  const folders = new InvalidPlugins(collectedLog());
  folders.replace([invalid("lamp", "no id"), invalid("clock", "no entry")]);

  const views = folders.views(({ name }) => name === "lamp");

  assert.deepEqual(
    views.map(({ id, state, error }) => [id, state, error?.message]),
    [["clock", "failed", "no entry"]],
  );
});

/** A plugin's folder, and packages that are installed, linked and missing. */
async function makePackages(t: TestContext) {
  const home = await makePlugins(t, { "root/lamp": "lamp", "dev/wordy": "x", "dev/scoped": "x" });
  const modules = join(home, "root/node_modules");
  await mkdir(join(modules, "plain"), { recursive: true });
  await mkdir(join(modules, "@scope"));
  await mkdir(join(home, "root/lamp/src/deep"), { recursive: true });
  await mkdir(join(home, "store/node_modules/stored"), { recursive: true });
  await symlink(join(home, "dev/wordy"), join(modules, "wordy"));
  await symlink(join(home, "dev/scoped"), join(modules, "@scope/name"));
  await symlink(join(home, "store/node_modules/stored"), join(modules, "stored"));
  await symlink(join(home, "dev/gone"), join(modules, "gone"));
  return home;
}

const PACKAGES: readonly (readonly [
  what: string,
  specifier: string,
  target: string | undefined,
])[] = [
  ["a link to sources", "wordy", "dev/wordy"],
  ["a file of a linked package", "wordy/parts/one.ts", "dev/wordy"],
  ["a linked package with a scope", "@scope/name", "dev/scoped"],
  ["a file of a linked package with a scope", "@scope/name/one.ts", "dev/scoped"],
  ["an installed package", "plain", undefined],
  ["a link to an installed package, as with pnpm", "stored", undefined],
  ["a link to nothing", "gone", undefined],
  ["a package that is not there", "missing", undefined],
];

for (const [what, specifier, target] of PACKAGES) {
  test(`the real folder of ${what} is ${target ?? "not one of sources"}`, async (t) => {
    const home = await makePackages(t);

    const found = linkedPackage(join(home, "root/lamp/src/deep"), specifier);

    assert.equal(found, target && join(home, target));
  });
}

test("an installed package hides a linked one in a folder above", async (t) => {
  const home = await makePackages(t);
  await mkdir(join(home, "root/lamp/node_modules/wordy"), { recursive: true });

  assert.equal(linkedPackage(join(home, "root/lamp"), "wordy"), undefined);
});

const module = (folder: string, ...inputs: string[]) => ({
  plugin: { folder },
  inputs: new Set(inputs),
});

test("the folders outside the roots are those of linked plugins and of linked packages", async (t) => {
  const home = await makePackages(t);
  const [lamp, wordy] = [join(home, "root/lamp"), join(home, "dev/wordy")];
  const inside = module(
    lamp,
    join(lamp, "index.ts"),
    join(home, "root/node_modules/plain/index.js"),
    join(wordy, "parts/one.ts"),
    join(wordy, "index.ts"),
  );
  const outside = module(join(home, "dev/scoped"), join(home, "dev/scoped/index.ts"));

  const folders = linkedFolders([join(home, "root")], [inside, outside]);

  assert.deepEqual([...folders], [wordy, join(home, "dev/scoped")]);
  assert.deepEqual([usesLink(inside, wordy), usesLink(outside, wordy)], [true, false]);
  assert.equal(usesLink(inside, lamp), false);
});

test("the folder of a plugin that moved is not a link, also if it was one during the move", async (t) => {
  const home = await makePlugins(t, { before: "lamp", after: "lamp" });
  const [before, after] = [join(home, "before"), join(home, "after")];
  const inputs = new Set([join(after, "index.ts")]);

  assert.equal(usesLink({ plugin: { folder: before }, inputs }, after), true);
  assert.equal(usesLink({ plugin: { folder: after }, inputs }, after), false);
});

test("a linked file below no package counts as its folder", () => {
  const file = "/mantel-test-nowhere/deep/one.ts";

  assert.equal(usesLink(module("/plugins/lamp", file), "/mantel-test-nowhere/deep"), true);
});

test("a folder whose name begins like that of the plugin is another folder", async (t) => {
  const home = await makePlugins(t, { "root/lamp": "lamp", "root/lamp-parts": "x" });
  const parts = join(home, "root/lamp-parts");

  assert.equal(usesLink(module(join(home, "root/lamp"), join(parts, "a.ts")), parts), true);
});
