import assert from "node:assert/strict";
import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { Languages } from "../../../host/languages/languages.ts";
import { collectedLog } from "../../helpers/collected-log.ts";
import { emptyFolder } from "../../helpers/folder.ts";

test("a file in the data folder offers its language, in its own words", async (t) => {
  const { languages } = await home(t, { "languages/sv.json": { name: "Svenska" } });

  const { languages: offered, damaged } = await languages.list();

  assert.deepEqual(
    offered.filter(({ language }) => language === "sv"),
    [{ language: "sv", name: "Svenska" }],
  );
  assert.deepEqual(damaged, []);
});

test("files with other names than languages are not offered", async (t) => {
  const names = ["readme.txt", "SV.json", "..json", "sv-.json", "sv"];
  const { languages } = await home(
    t,
    Object.fromEntries(names.map((name) => [`languages/${name}`, {}])),
  );
  const { languages: shipped } = await (await home(t)).languages.list();

  assert.deepEqual(await languages.list(), { languages: shipped, damaged: [] });
});

test("a file that is damaged is named with the reason, which quotes nothing of it", async (t) => {
  const { languages, log } = await home(t, {
    "languages/sv.json": "{ secret",
    "languages/fi.json": { name: 3 },
    "languages/nb.json": " ".repeat(2 ** 20 + 1),
  });

  const { damaged } = await languages.list();
  const texts = [await languages.read("sv"), await languages.read("sv")];

  assert.deepEqual(
    damaged.map(({ file, detail }) => [file, /not JSON|link or larger|name/.test(detail)]),
    [
      ["fi.json", true],
      ["nb.json", true],
      ["sv.json", true],
    ],
  );
  assert.doesNotMatch(JSON.stringify(damaged), /secret/);
  assert.deepEqual(texts[0], texts[1]);
  assert.equal(log.records.filter(({ level }) => level === "warn").length, 1);
});

test("a link does not lead to a file elsewhere", async (t) => {
  const { languages, data } = await home(t, { "elsewhere/sv.json": { name: "Elsewhere" } });
  await symlink(join(data, "elsewhere/sv.json"), join(data, "languages/sv.json"));

  assert.deepEqual((await languages.read("sv")).name, undefined);
});

test("texts of a region win over those of its language", async (t) => {
  const { languages } = await home(t, {
    "languages/pt.json": {
      name: "Português",
      dashboard: { shell: { pages: "Páginas", restart: "Reiniciar" } },
      vocabulary: { Off: "Desligado" },
    },
    "languages/pt-BR.json": { dashboard: { shell: { pages: "Telas" } } },
  });

  const { dashboard, vocabulary, plugins } = await languages.read("pt-BR");

  assert.deepEqual(dashboard, { shell: { pages: "Telas", restart: "Reiniciar" } });
  assert.deepEqual(vocabulary, { Off: "Desligado" });
  assert.deepEqual(plugins, {});
});

test("texts of plugins come from their folders and from the data folder", async (t) => {
  const { languages, plugins } = await home(t, {
    "languages/sv.json": { plugins: { clock: { Clock: "Klocka" }, gone: { A: "B" } } },
    "clock/languages/sv.json": { Clock: "Ur", Seconds: "Sekunder" },
    "lamp/languages/sv.json": "[]",
    "note/package.json": {},
  });
  for (const id of ["clock", "lamp", "note"]) plugins.set(id, id);

  assert.deepEqual(await languages.readPlugins("sv"), {
    clock: { Clock: "Klocka", Seconds: "Sekunder" },
    gone: { A: "B" },
  });
});

test("a language without a pack has no texts", async (t) => {
  const { languages } = await home(t);

  assert.deepEqual(await languages.read("tlh"), { dashboard: {}, vocabulary: {}, plugins: {} });
  assert.deepEqual(await languages.readPlugins("tlh"), {});
});

/** A data folder with these files, and plugins whose folders are in it. */
async function home(t: TestContext, files: Readonly<Record<string, unknown>> = {}) {
  const data = await emptyFolder(t);
  const log = collectedLog();
  const plugins = new Map<string, string>();
  const languages = await Languages.open({
    dataFolder: data,
    log,
    pluginFolders: () => new Map([...plugins].map(([id, folder]) => [id, join(data, folder)])),
  });
  for (const [path, content] of Object.entries(files)) {
    await mkdir(join(data, path, ".."), { recursive: true });
    await writeFile(
      join(data, path),
      typeof content === "string" ? content : JSON.stringify(content),
    );
  }
  return { data, languages, log, plugins };
}
