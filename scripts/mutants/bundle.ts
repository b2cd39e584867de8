// bundle.ts OUTFILE NODE_TEST FILE...: run by Stryker in its copy of the repository. Bundles the tests of each FILE and
// the changed code into OUTFILE, where NODE_TEST takes the place of node:test. The globals of a page are in a bundle of
// their own, which loads first, because lit looks for them when it loads.

import { mkdirSync, symlinkSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { build as bundle, type Plugin } from "esbuild";
import { TEST_BUNDLE } from "../test/bundle.ts";
import { readTestFile } from "../test/imports.ts";

const PAGE = "test/helpers/page/light-dom.ts";

const [outfile = "", nodeTest = "", ...files] = process.argv.slice(2);
const usesPage = files.some((file) => readTestFile(file).usesPage);

const besideTests: Plugin = {
  name: "beside-tests",
  setup(build) {
    const replacement = { path: pathToFileURL(nodeTest).href, external: true };
    build.onResolve({ filter: /^node:test$/ }, () => replacement);
    build.onResolve({ filter: /\/page\/light-dom\.ts$/ }, () => ({
      path: "./page.mjs",
      external: true,
    }));
  },
};

// Otherwise the SDK would be found in the repository, without the changes.
mkdirSync("node_modules/@mantel", { recursive: true });
symlinkSync(resolve("plugin-sdk"), "node_modules/@mantel/plugin-sdk");
await bundle({
  ...TEST_BUNDLE,
  entryPoints: [resolve(PAGE)],
  outfile: join(dirname(outfile), "page.mjs"),
});
await bundle({
  ...TEST_BUNDLE,
  stdin: { contents: loadAll(), resolveDir: resolve("."), loader: "js" },
  outfile,
  banner: { js: `${usesPage ? 'import "./page.mjs";' : ""}${TEST_BUNDLE.banner.js}` },
  plugins: [besideTests, ...TEST_BUNDLE.plugins],
});

function loadAll(): string {
  const lines = files.map((file) => {
    const name = JSON.stringify(file);
    return `startFile(${name}); await import(${JSON.stringify(`./${file}`)});`;
  });
  return ['import { startFile } from "node:test";', ...lines].join("\n");
}
