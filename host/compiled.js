// The host as three files: its own sources, its npm packages, and what runs them; compiled when a source
// has changed.
// Plain JavaScript, because it runs before anything that could load TypeScript.

import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { isBuiltin } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const FOLDER = join(ROOT, "node_modules/.cache/mantel");
const SOURCES = ["host", "plugin-sdk"];
/** npm writes it at each installation. */
const INSTALLED = "node_modules/.package-lock.json";
/** Has a program beside it, which it looks for from its own place. */
const LEFT_OUT = ["esbuild", "fsevents"];
const TARGET = { bundle: true, write: false, platform: "node", target: "node20.19" };
const SMALL = { minifySyntax: true, minifyWhitespace: true, logLevel: "silent" };

/**
 * The path of the compiled host, a file with others beside it. They load in a fifth of the time the
 * sources take, of which there are many. Equal sources give an equal path.
 */
export async function compileHost() {
  const name = `host-${await fingerprint()}`;
  const base = join(FOLDER, name);
  if (existsSync(`${base}.mjs`)) return `${base}.mjs`;
  const { stop } = await import("esbuild");
  try {
    await writeCompiled(base);
  } finally {
    void stop(); // its service has the whole environment; the host starts one that has not
  }
  const stale = (await readdir(FOLDER)).filter((each) => !each.startsWith(name));
  await Promise.all(stale.map((each) => rm(join(FOLDER, each), { recursive: true, force: true })));
  return `${base}.mjs`;
}

async function writeCompiled(base) {
  const { sources, map, packages } = await compileSources(`${base}.sources.cjs`);
  await mkdir(FOLDER, { recursive: true });
  await replace(`${base}.packages.cjs`, await compilePackages(packages));
  await replace(`${base}.sources.cjs.map`, map);
  await replace(`${base}.sources.cjs`, sources);
  await replace(`${base}.mjs`, await compileStart()); // the last, because it says that all are there
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

/** The host's own sources, its source map, and the names of the packages that they import. */
async function compileSources(outfile) {
  const { build } = await import("esbuild");
  const { WRAPPED } = await import("./package-bundle.js");
  const packages = new Set();
  const { outputFiles } = await build({
    ...TARGET,
    ...SMALL,
    ...WRAPPED,
    entryPoints: [join(ROOT, "host/main.ts")],
    outfile,
    format: "cjs",
    external: LEFT_OUT,
    sourcemap: "linked",
    sourcesContent: false,
    keepNames: true,
    define: {
      "import.meta.url": "__mantelUrl",
      "import.meta.filename": "__mantelFilename",
      "import.meta.dirname": "__mantelDirname",
    },
    plugins: [ownMeta, noPackages(packages)],
  });
  const [map, sources] = [".map", ".cjs"].map(
    (end) => outputFiles.find(({ path }) => path.endsWith(end)).text,
  );
  return { sources, map, packages: [...packages] };
}

async function compilePackages(names) {
  const { bundlePackages } = await import("./package-bundle.js");
  return bundlePackages(ROOT, names, LEFT_OUT);
}

async function compileStart() {
  const { build } = await import("esbuild");
  const entryPoints = [join(ROOT, "host/start-compiled.ts")];
  const { outputFiles } = await build({ ...TARGET, ...SMALL, entryPoints, format: "esm" });
  return outputFiles[0].text;
}

/** Leaves packages out, and notes them: V8 keeps their compiled code apart from the sources. */
const noPackages = (names) => ({
  name: "no-packages",
  setup(build) {
    build.onResolve({ filter: /^[^./]/ }, ({ path, kind }) => {
      const isOurs = path.startsWith("@mantel/") || kind === "entry-point" || isBuiltin(path);
      if (isOurs || LEFT_OUT.includes(path)) return undefined;
      names.add(path);
      return { path, external: true };
    });
    // A file that esbuild found by itself takes all a package exports for its default, as Node would.
    build.onResolve({ filter: /^\./ }, ({ path, resolveDir }) => ({
      path: join(resolveDir, path),
    }));
  },
});

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
