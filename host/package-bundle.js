// Bundles npm packages into one file, for the plugins and for the host itself. Plain JavaScript, because the host
// is compiled before anything could load TypeScript.

/** Wraps a CommonJS file in a function that takes its `require`, as `compiled-code.ts` calls it. */
export const WRAPPED = {
  banner: { js: "module.exports = function (require, module, exports) {" },
  footer: { js: "};" },
};

/**
 * One file that exports each of `names` as seen from the folder `from`. Those in `external` are
 * loaded by its `require`.
 *
 * @param {string} from
 * @param {readonly string[]} names
 * @param {string[]} [external]
 * @param {import("esbuild").Plugin[]} [plugins]
 * @returns {Promise<string>}
 * @throws esbuild's BuildFailure, for example for a missing package
 */
export async function bundlePackages(from, names, external = [], plugins = []) {
  // A namespace has exactly Node's defaults and names; the mark prevents the importing bundle from
  // wrapping it again.
  const entry = names
    .flatMap((name, at) => [
      `import * as package${at} from ${JSON.stringify(name)};`,
      `const export${at} = { ...package${at}, __esModule: true };`,
      `export { export${at} as ${JSON.stringify(name)} };`,
    ])
    .join("\n");
  const { build } = await import("esbuild");
  const { outputFiles } = await build({
    stdin: { contents: entry, resolveDir: from, sourcefile: "vendor.mjs", loader: "js" },
    bundle: true,
    write: false,
    platform: "node",
    format: "cjs",
    target: "node20",
    external,
    plugins,
    mainFields: ["main", "module"],
    // esbuild adds "import" or "require" for each import, and applies those named here to both: a package with two
    // forms must give its CommonJS form to what requires it.
    conditions: ["node"],
    minifySyntax: true,
    minifyWhitespace: true,
    legalComments: "none",
    logLevel: "silent",
    tsconfigRaw: {}, // a tsconfig.json beside the importing folder is not about packages
    define: { "import.meta.url": "__vendorUrl" },
    ...WRAPPED,
    banner: {
      js: `${WRAPPED.banner.js}const __vendorUrl = require("node:url").pathToFileURL(__filename).href;`,
    },
  });
  return outputFiles[0]?.text ?? "";
}
