// Bundles the test files: loading their sources one by one takes a process longer than most tests do.

import { rmSync } from "node:fs";
import { isBuiltin } from "node:module";
import { join, resolve } from "node:path";
import { type BuildOptions, build as bundleWith, type Plugin } from "esbuild";
import { CSS_TEXT_IN_CODE } from "../../host/assets/css-text.ts";
import { OWN_META, ownMeta } from "../../host/own-meta.js";

/** Inside node_modules, so that the packages are found from there. */
const FOLDER = resolve("node_modules/.cache/mantel-tests");

const IN_PACKAGE = /\/node_modules\/(?!@mantel\/)/;
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

/** Bundles these files for this process, which deletes the bundles when it ends. */
export async function bundle(files: readonly string[]): Promise<(file: string) => string> {
  const outdir = join(FOLDER, `bundle-${process.pid}`);
  process.once("exit", () => rmSync(outdir, { recursive: true, force: true }));
  return bundleInto(outdir, files);
}

/**
 * Bundles these files, with their source maps. What several of them import is in files that they share. Returns the
 * path of each file's bundle.
 */
export async function bundleInto(
  outdir: string,
  files: readonly string[],
): Promise<(file: string) => string> {
  await bundleWith({
    ...TEST_BUNDLE,
    entryPoints: files.map((file) => resolve(file)),
    outdir,
    outbase: resolve("."),
    outExtension: { ".js": ".mjs" },
    splitting: true,
    sourcemap: "linked",
    sourcesContent: false,
  });
  return (file) => join(outdir, file.replace(/\.ts$/, ".mjs"));
}
