// Bundles the test files: loading their sources one by one takes a process longer than most tests do.

import { rmSync } from "node:fs";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { isBuiltin } from "node:module";
import { dirname, join, resolve } from "node:path";
import { type BuildOptions, build as bundleWith, type Plugin } from "esbuild";
import { CSS_TEXT_IN_CODE } from "../../host/assets/css-text.ts";
import { OWN_META, ownMeta } from "../../host/own-meta.js";

/** Inside node_modules, so that the packages are found from there. */
const FOLDER = resolve("node_modules/.cache/mantel-tests");

/** The mutation tests run in a copy below `.cache`. */
const IN_PACKAGE = /\/node_modules\/(?!@mantel\/|\.cache\/)/;
/** Packages in CommonJS load Node's own modules by it. */
const REQUIRE = `import { createRequire as requireOf } from "node:module"; const require = requireOf(import.meta.url);`;
/** Packages of many files, which a process loads in a quarter of the time from a bundle. */
const BUNDLED =
  /^(typebox|fast-check|pure-rand|koa|@koa\/router|koa-bodyparser|jsonwebtoken|semver)(\/|$)/;

/** Leaves npm packages to Node, but for those that load slowly. */
const noPackages: Plugin = {
  name: "no-packages",
  setup(build) {
    build.onResolve({ filter: /^[^./]/ }, ({ path, kind, importer }) => {
      const isOurs = path.startsWith("@mantel/") || kind === "entry-point" || isBuiltin(path);
      if (isOurs || BUNDLED.test(path) || IN_PACKAGE.test(importer)) return undefined;
      return { path, external: true };
    });
  },
};

/** The options of each bundle of tests. */
export const TEST_BUNDLE = {
  bundle: true,
  format: "esm",
  platform: "node",
  target: "node20.19",
  keepNames: true,
  banner: { js: REQUIRE },
  logLevel: "error",
  define: OWN_META,
  plugins: [CSS_TEXT_IN_CODE, ownMeta, noPackages],
} satisfies BuildOptions;

/** Node's test runner for test files, when their tests run in a random order. */
const inRandomOrder: Plugin = {
  name: "in-random-order",
  setup(build) {
    const path = join(import.meta.dirname, "shuffled.ts");
    build.onResolve({ filter: /^node:test$/ }, ({ importer }) =>
      importer !== path ? { path } : undefined,
    );
  },
};

interface Bundling {
  /** Keeps code that no test reaches, and writes source maps that c8 understands. */
  readonly forCoverage?: boolean;
  readonly isRandom?: boolean;
}

/** A folder for the bundles of this process, which deletes it when it ends. */
function bundleFolder(): string {
  const folder = join(FOLDER, `bundle-${process.pid}`);
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Bundles these files for this process. */
export function bundle(
  files: readonly string[],
  options?: Bundling,
): Promise<(file: string) => string> {
  return bundleInto(bundleFolder(), files, options);
}

/**
 * Bundles these files, with their source maps. What several of them import is in files that they share. Returns the
 * path of each file's bundle.
 */
export async function bundleInto(
  outdir: string,
  files: readonly string[],
  { forCoverage = false, isRandom = false }: Bundling = {},
): Promise<(file: string) => string> {
  const { plugins } = TEST_BUNDLE;
  await bundleWith({
    ...TEST_BUNDLE,
    plugins: isRandom ? [inRandomOrder, ...plugins] : plugins,
    entryPoints: files.map((file) => resolve(file)),
    outdir,
    outbase: resolve("."),
    outExtension: { ".js": ".mjs" },
    splitting: true,
    sourcemap: "linked",
    sourcesContent: false,
    ...(forCoverage && { treeShaking: false }),
  });
  if (forCoverage) await nameSourcesInFull(outdir);
  return (file) => join(outdir, file.replace(/\.ts$/, ".mjs"));
}

/** Source maps with absolute paths: c8 leaves relative ones out of its report. */
async function nameSourcesInFull(outdir: string): Promise<void> {
  const names = await readdir(outdir, { recursive: true });
  for (const name of names.filter((each) => each.endsWith(".map"))) {
    const file = join(outdir, name);
    const map = JSON.parse(await readFile(file, "utf8")) as { sources: string[] };
    const sources = map.sources.map((source) => resolve(dirname(file), source));
    await writeFile(file, JSON.stringify({ ...map, sources }));
  }
}
