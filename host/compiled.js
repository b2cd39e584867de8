// Compiles the host into its own sources, its npm packages, and a start file; beside them the program of the backup
// process. Compiles again when a source has changed. Plain JavaScript, because it runs before anything that could load
// TypeScript.

import { existsSync } from "node:fs";
import { mkdir, readdir, rename, rm, writeFile } from "node:fs/promises";
import { isBuiltin } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { OWN_META, ownMeta } from "./own-meta.js";
import { compiledName } from "./source-fingerprint.js";
import { zoneFile } from "./zone-file.js";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const FOLDER = join(ROOT, "node_modules/.cache/mantel");
/** Packages with a binary beside them, which they locate by their own path. */
const LEFT_OUT = ["esbuild", "fsevents"];
const TARGET = { bundle: true, write: false, platform: "node", target: "node20.19" };
const SMALL = { minifySyntax: true, minifyWhitespace: true, logLevel: "silent" };

/**
 * The path of the compiled host, a file with others beside it. They load in a fifth of the time of the
 * many sources. Equal sources give an equal path.
 */
export async function compileHost() {
  const name = compiledName();
  const base = join(FOLDER, name);
  if (existsSync(`${base}.mjs`)) return `${base}.mjs`;
  const { stop } = await import("esbuild");
  try {
    await writeCompiled(base);
  } finally {
    void stop(); // esbuild's service has inherited the whole environment; the host starts a clean one
  }
  const stale = (await readdir(FOLDER)).filter((each) => !each.startsWith(name));
  await Promise.all(stale.map((each) => rm(join(FOLDER, each), { recursive: true, force: true })));
  return `${base}.mjs`;
}

async function writeCompiled(base) {
  const { sources, map, packages } = await compileSources(base);
  for (const part of ["packages", "sources"]) {
    await mkdir(`${base}.cache/${part}`, { recursive: true }); // for V8's compiled code
  }
  await replace(`${base}.packages.cjs`, await compilePackages(packages));
  await replace(`${base}.backup.cjs`, await compileProgram("host/backup/worker.ts"));
  await replace(`${base}.sources.cjs.map`, map);
  await replace(`${base}.sources.cjs`, sources);
  // Written last: its existence means that all files are complete.
  await replace(`${base}.mjs`, await compileProgram("host/start-compiled.ts", "esm"));
}

/** Compiles the host's own sources and their source map; returns the names of the packages they import. */
async function compileSources(base) {
  const { build } = await import("esbuild");
  const { WRAPPED } = await import("./package-bundle.js");
  const packages = new Set();
  const { outputFiles } = await build({
    ...TARGET,
    ...SMALL,
    ...WRAPPED,
    entryPoints: [join(ROOT, "host/main.ts")],
    outfile: `${base}.sources.cjs`,
    format: "cjs",
    external: LEFT_OUT,
    supported: { "dynamic-import": false }, // `require` loads what is imported on demand
    sourcemap: "linked",
    sourcesContent: false,
    define: {
      COMPILED_BACKUP_PROGRAM: JSON.stringify(`${base}.backup.cjs`),
      COMPILED_TIME_ZONE: compiledTimeZone(),
      ...OWN_META,
    },
    plugins: [ownMeta, noPackages(packages)],
  });
  const [map, sources] = [".map", ".cjs"].map(
    (end) => outputFiles.find(({ path }) => path.endsWith(end)).text,
  );
  return { sources, map, packages: [...packages] };
}

/** The constant of host/time-zone.ts. */
function compiledTimeZone() {
  const file = zoneFile();
  if (file === undefined || process.env.TZ !== undefined) return "undefined";
  return JSON.stringify({ zone: new Intl.DateTimeFormat().resolvedOptions().timeZone, file });
}

async function compilePackages(names) {
  const { bundlePackages } = await import("./package-bundle.js");
  return bundlePackages(ROOT, names, LEFT_OUT);
}

async function compileProgram(entry, format = "cjs") {
  const { build } = await import("esbuild");
  const entryPoints = [join(ROOT, entry)];
  const { outputFiles } = await build({ ...TARGET, ...SMALL, entryPoints, format });
  return outputFiles[0].text;
}

/**
 * Leaves packages out and records them: V8 caches their compiled code apart from the sources. What is imported on
 * demand is not recorded: Node loads it from its folder.
 */
const noPackages = (names) => ({
  name: "no-packages",
  setup(build) {
    build.onResolve({ filter: /^[^./]/ }, ({ path, kind }) => {
      const isOurs = path.startsWith("@mantel/") || kind === "entry-point" || isBuiltin(path);
      if (isOurs || LEFT_OUT.includes(path)) return undefined;
      if (kind !== "dynamic-import") names.add(path);
      return { path, external: true };
    });
    // A path resolved by esbuild itself would take a package's whole CommonJS export for its default, as Node does.
    build.onResolve({ filter: /^\./ }, ({ path, resolveDir }) => ({
      path: join(resolveDir, path),
    }));
  },
});

/** Replaces a file atomically: another start may be reading it, or writing the same. */
async function replace(file, content) {
  const temporary = `${file}.${process.pid}.tmp`;
  await writeFile(temporary, content);
  await rename(temporary, file);
}
