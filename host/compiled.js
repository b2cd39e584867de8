// The host as one file: its own sources and its npm packages, compiled when a source has changed.
// Plain JavaScript, because it runs before anything that could load TypeScript.

import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const FOLDER = join(ROOT, "node_modules/.cache/mantel");
const SOURCES = ["host", "plugin-sdk"];
/** npm writes it at each installation. */
const INSTALLED = "node_modules/.package-lock.json";
/** Has a program beside it, which it looks for from its own place. */
const LEFT_OUT = ["esbuild", "fsevents"];
/**
 * The path of the compiled host. It loads in a fifth of the time the sources take, of which there are
 * many. Equal sources give an equal path.
 */
export async function compileHost() {
  const name = `host-${await fingerprint()}.mjs`;
  const file = join(FOLDER, name);
  if (existsSync(file)) return file;
  const { js, map } = await bundle(file);
  await mkdir(FOLDER, { recursive: true });
  await replace(`${file}.map`, map);
  await replace(file, js);
  const stale = (await readdir(FOLDER)).filter((each) => !each.startsWith(name));
  await Promise.all(stale.map((each) => rm(join(FOLDER, each), { recursive: true, force: true })));
  return file;
}

/** Changes with every file the host is made of. */
async function fingerprint() {
  const folders = await Promise.all(SOURCES.map(filesBelow));
  const files = [...folders.flat(), INSTALLED].toSorted((a, b) => a.localeCompare(b));
  const looks = await Promise.all(files.map(lookOf));
  return createHash("sha256").update(looks.join("\n")).digest("hex").slice(0, 16);
}

async function filesBelow(folder) {
  const names = await readdir(join(ROOT, folder), { recursive: true });
  const ofHost = names.filter((name) => /\.(ts|js|json)$/.test(name));
  return ofHost
    .filter((name) => !name.startsWith("dashboard/") && !name.includes("node_modules/"))
    .map((name) => join(folder, name));
}

/** The change time moves with every write and rename, and no program can set it (inode(7)). */
async function lookOf(file) {
  const { ctimeMs, size } = await stat(join(ROOT, file));
  return `${file} ${ctimeMs} ${size}`;
}

async function bundle(outfile) {
  const { build } = await import("esbuild");
  const { outputFiles } = await build({
    entryPoints: [join(ROOT, "host/main.ts")],
    outfile,
    write: false,
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node20.19",
    external: LEFT_OUT,
    sourcemap: "linked",
    sourcesContent: false,
    minifySyntax: true,
    minifyWhitespace: true,
    keepNames: true,
    legalComments: "none",
    logLevel: "silent",
    // Packages in CommonJS ask for built-in modules by `require`, which a module does not have.
    banner: { js: `import{createRequire as _}from"node:module";const require=_(import.meta.url);` },
    define: {
      "import.meta.url": "__mantelUrl",
      "import.meta.filename": "__mantelFilename",
      "import.meta.dirname": "__mantelDirname",
    },
    plugins: [ownMeta],
  });
  const [map, js] = [".map", ".mjs"].map(
    (end) => outputFiles.find(({ path }) => path.endsWith(end)).text,
  );
  return { js, map };
}

/** Keeps `import.meta` of each file its own: files are found from where their source lies. */
const ownMeta = {
  name: "own-meta",
  setup(build) {
    build.onLoad({ filter: /\.(ts|m?js)$/ }, async ({ path }) => {
      const source = await readFile(path, "utf8");
      if (!source.includes("import.meta")) return undefined;
      const values = { Url: pathToFileURL(path).href, Filename: path, Dirname: dirname(path) };
      const constants = Object.entries(values).map(
        ([name, value]) => `const __mantel${name}=${JSON.stringify(value)};`,
      );
      return { contents: constants.join("") + source, loader: path.endsWith(".ts") ? "ts" : "js" };
    });
  },
};

/** Another start may be reading it, or writing the same. */
async function replace(file, content) {
  const temporary = `${file}.${process.pid}.tmp`;
  await writeFile(temporary, content);
  await rename(temporary, file);
}
