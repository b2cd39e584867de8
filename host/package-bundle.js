// npm packages as one file, for the plugins and for the host itself. Plain JavaScript, because the host
// is compiled before anything could load TypeScript.

import { build } from "esbuild";

/** Makes of a CommonJS file a function that waits for its `require`, as `compiled-code.ts` calls it. */
export const WRAPPED = {
  banner: { js: "module.exports = function (require, module, exports) {" },
  footer: { js: "};" },
};

/**
 * One file that exports each of `names` as seen from the folder `from`. Those that are `external` are
 * left to its `require`.
 *
 * @param {string} from
 * @param {readonly string[]} names
 * @param {string[]} [external]
 * @returns {Promise<string>}
 * @throws esbuild's BuildFailure, such as for a package that is missing
 */
export async function bundlePackages(from, names, external = []) {
  // A namespace has the exact defaults and names of Node; the mark keeps the bundle that uses it from
  // wrapping it again.
  const entry = names
    .flatMap((name, at) => [
      `import * as package${at} from ${JSON.stringify(name)};`,
      `const export${at} = { ...package${at}, __esModule: true };`,
      `export { export${at} as ${JSON.stringify(name)} };`,
    ])
    .join("\n");
  const { outputFiles } = await build({
    stdin: { contents: entry, resolveDir: from, sourcefile: "vendor.mjs", loader: "js" },
    bundle: true,
    write: false,
    platform: "node",
    format: "cjs",
    target: "node20",
    external,
    mainFields: ["main", "module"],
    conditions: ["node", "import"],
    minifySyntax: true,
    minifyWhitespace: true,
    legalComments: "none",
    logLevel: "silent",
    define: { "import.meta.url": "__vendorUrl" },
    ...WRAPPED,
    banner: {
      js: `${WRAPPED.banner.js}const __vendorUrl = require("node:url").pathToFileURL(__filename).href;`,
    },
  });
  return outputFiles[0]?.text ?? "";
}
