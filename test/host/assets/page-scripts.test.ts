import assert from "node:assert/strict";
import { mkdir, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { test, type TestContext } from "node:test";
import { pathToFileURL } from "node:url";
import { buildPageScripts } from "../../../host/assets/page-scripts.ts";
import { emptyFolder } from "../../helpers/folder.ts";

const SOURCES = {
  "counter.ts": "let count = 0; export const add = () => ++count; export const unused = 1;",
  "names.ts": "export let name = 'a';",
  "main.ts": `import { add } from "./counter.ts"; import { name } from "./names.ts";
    add();
    globalThis.loading = import("./first.ts").then(({ read }) => read(name));`,
  "first.ts": `import { add } from "./counter.ts";
    export const read = async (name) => {
      const { last } = await import("./second.ts");
      return [name, add(), last()];
    };`,
  "second.ts": `import { add } from "./counter.ts"; import { name } from "./names.ts";
    export const last = () => name + add();`,
};

test("the page's script waits for no other file, and its parts use the same state", async (t) => {
  const { folder, built } = await buildIn(t, SOURCES);
  const names = built.files.map(({ path }) => basename(path)).toSorted();
  const textOf = (name: string): string =>
    Buffer.from(
      built.files.find(({ path }) => basename(path).startsWith(name))?.contents ?? [],
    ).toString();

  assert.deepEqual(
    names.map((name) => name.split(".")[0]),
    ["first", "main", "second"],
  );
  assert.doesNotMatch(textOf("main"), /\bfrom ?"|import ?"/);
  assert.doesNotMatch(textOf("main"), /unused/);
  assert.deepEqual(await run(folder, built), ["a", 2, "a3"]);
});

test("the name of the page's script changes with each part, and only then", async (t) => {
  const scripts = [
    SOURCES,
    SOURCES,
    { ...SOURCES, "second.ts": SOURCES["second.ts"].replace("name + add()", "add() + name") },
    { ...SOURCES, "counter.ts": SOURCES["counter.ts"].replace("= 0", "= 7") },
  ];
  const paths = [];
  for (const sources of scripts) paths.push(scriptOf((await buildIn(t, sources)).built));
  const [first, again, ...changed] = paths;
  assert.equal(first, again);
  assert.equal(new Set([first, ...changed]).size, 3, String(paths));
});

test("a part that only runs a shared source does not run the page's script again", async (t) => {
  const { folder, built } = await buildIn(t, {
    ...SOURCES,
    "names.ts": "export let name = 'a'; globalThis.runs = (globalThis.runs ?? 0) + 1;",
    "second.ts": `import "./names.ts"; import { add } from "./counter.ts"; export const last = () => add();`,
  });
  t.after(() => Reflect.deleteProperty(globalThis, "runs"));
  assert.deepEqual(await run(folder, built), ["a", 2, 3]);
  assert.equal((globalThis as { runs?: number }).runs, 1);
});

test("a part that takes all names of a shared source is refused", async (t) => {
  for (const statement of ["import * as all", "export *"]) {
    const second = `${statement} from "./names.ts"; ${statement.includes("all") ? "export const last = () => Object.keys(all);" : ""}`;
    await assert.rejects(
      buildIn(t, { ...SOURCES, "second.ts": second }),
      /second\.\w+\.js uses a source of main\.\w+\.js otherwise than by import/,
      statement,
    );
  }
});

test("shared sources may export the same name, and each part gets the one it imports", async (t) => {
  const { folder, built } = await buildIn(t, {
    ...SOURCES,
    "names.ts": "export let name = 'a'; export const add = () => 40;",
    "second.ts": `import { add } from "./counter.ts"; import { add as plus, name } from "./names.ts";
      export const last = () => name + add() + plus();`,
  });
  assert.deepEqual(await run(folder, built), ["a", 2, "a340"]);
});

test("files of a package may export what another one of them does", async (t) => {
  const { folder, built } = await buildIn(t, {
    ...SOURCES,
    "node_modules/p/package.json": `{ "name": "p", "type": "module", "exports": { ".": "./a.js", "./b": "./b.js" } }`,
    "node_modules/p/a.js": `export { shown } from "./b.js"; export const own = "own";`,
    "node_modules/p/b.js": `export let shown = "shown";`,
    "names.ts": `import { own } from "p"; import { shown } from "p/b"; export const name = own + shown;`,
    "second.ts": `import { own, shown } from "p"; import { shown as again } from "p/b";
      export const last = () => own + shown + again;`,
  });
  assert.deepEqual(await run(folder, built), ["ownshown", 2, "ownshownshown"]);
});

const LATER = {
  "main.ts": `import { add } from "./counter.ts";
    globalThis.loading = import("./soon.ts").then(({ start }) => start(add()));
    export const part = () => import("./part.ts");`,
  "counter.ts": "let count = 0; export const add = () => ++count;",
  "soon.ts": `export { start } from "./start.ts"; export { view as shownSoon } from "./view.ts";`,
  "start.ts": `import { view } from "./view.ts"; import "./styles.ts";
    export const start = async (count) => {
      const { open, view: again } = await import("./ready.ts");
      return [count, view(), open(), again === view];
    };`,
  "view.ts": `import { add } from "./counter.ts"; let views = 0; export const view = () => \`\${++views} of \${add()}\`;`,
  "styles.ts": "globalThis.styles = (globalThis.styles ?? 0) + 1; export const unused = 1;",
  "ready.ts": `import { view } from "./view.ts"; import { form } from "./form.ts"; import "./styles.ts";
    export { view }; export const open = () => form + view();`,
  "form.ts": `export const form = "form "; export const other = "other ";`,
  "part.ts": `import { view } from "./view.ts"; import { other } from "./form.ts"; import { add } from "./counter.ts";
    import "./styles.ts";
    export const read = () => [globalThis.styles, view(), other + add()];`,
} as const;
const LATER_SCRIPTS = ["main.ts", "soon.ts", "ready.ts"] as const;

test("scripts that each visit loads later are one file each, and use the state of those before", async (t) => {
  t.after(() => Reflect.deleteProperty(globalThis, "styles"));
  const { folder, built } = await buildIn(t, LATER, LATER_SCRIPTS);

  const names = built.files.map(({ path }) => basename(path).split(".")[0]);
  assert.deepEqual(new Set(names), new Set(["main", "part", "ready", "soon"]));
  assert.equal(names.length, 4);
  assert.deepEqual(await run(folder, built), [1, "1 of 2", "form 2 of 3", true]);
  assert.equal(Reflect.get(globalThis, "styles"), 1);
});

test("a part that is loaded before a later script runs what it needs of that", async (t) => {
  t.after(() => Reflect.deleteProperty(globalThis, "styles"));
  const main = `import { add } from "./counter.ts"; add();
    globalThis.loading = import("./part.ts").then(({ read }) => read());
    export const later = () => import("./soon.ts");`;
  const { folder, built } = await buildIn(t, { ...LATER, "main.ts": main }, LATER_SCRIPTS);

  assert.deepEqual(await run(folder, built), [1, "1 of 2", "other 3"]);
});

type Built = Awaited<ReturnType<typeof buildPageScripts>>;

/** The name of the page's script. */
function scriptOf({ files }: Built): string {
  const names = files.map(({ path }) => basename(path));
  return names.find((name) => name.startsWith("main.")) ?? assert.fail(String(names));
}

async function buildIn(
  t: TestContext,
  sources: Readonly<Record<string, string>>,
  [page, ...later]: readonly [string, ...string[]] = ["main.ts"],
) {
  const folder = await emptyFolder(t);
  for (const [name, text] of Object.entries(sources)) {
    await mkdir(join(folder, name, ".."), { recursive: true });
    await writeFile(join(folder, name), text);
  }
  const built = await buildPageScripts(
    [join(folder, page), ...later.map((entry) => join(folder, entry))],
    {
      absWorkingDir: folder,
      outdir: "/assets",
      write: false,
      metafile: true,
      bundle: true,
      minify: true,
      platform: "browser",
      entryNames: "[name].[hash]",
      chunkNames: "[name].[hash]",
      plugins: [],
    },
  );
  return { folder, built };
}

/** The value that the page's script leaves in `loading`. */
async function run(folder: string, built: Built): Promise<unknown> {
  await mkdir(join(folder, "out"));
  await writeFile(join(folder, "out/package.json"), `{ "type": "module" }`);
  for (const { path, contents } of built.files)
    await writeFile(join(folder, "out", basename(path)), contents);
  await import(pathToFileURL(join(folder, "out", scriptOf(built))).href);
  const loaded = (globalThis as { loading?: unknown }).loading;
  Reflect.deleteProperty(globalThis, "loading");
  return loaded;
}
