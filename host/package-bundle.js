// Bundles npm packages into one file, for the plugins and for the host itself. Plain JavaScript, because the host
// is compiled before anything could load TypeScript.

/** Wraps a CommonJS file in a function that takes its `require`, as `compiled-code.ts` calls it. */
export const WRAPPED = {
  banner: { js: "module.exports = function (require, module, exports) {" },
  footer: { js: "};" },
};

/** Begins the name of a package that is run only when the code imports it, by `import("name")`. */
export const ON_DEMAND = "on-demand:";

/**
 * One file that exports each of `names` as seen from the folder `from`; those that begin with `ON_DEMAND` as a function
 * that runs the package. Those in `external` are loaded by its `require`.
 *
 * @param {string} from
 * @param {readonly string[]} names
 * @param {string[]} [external]
 * @param {import("esbuild").Plugin[]} [plugins]
 * @returns {Promise<string>}
 * @throws esbuild's BuildFailure, for example for a missing package
 */
export async function bundlePackages(from, names, external = [], plugins = []) {
  const entry = names
    .flatMap((name, at) => [
      ...(name.startsWith(ON_DEMAND)
        ? [`const export${at} = () => require(${JSON.stringify(name)}).namespace;`]
        : namespaceOf(name, `export${at}`)),
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
    plugins: [onDemand(from), ...plugins],
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

/**
 * The lines that define a package's namespace, which has exactly Node's defaults and names. The mark prevents the
 * importing bundle from wrapping it again.
 *
 * @param {string} name
 * @param {string} variable
 */
const namespaceOf = (name, variable) => [
  `import * as all_${variable} from ${JSON.stringify(name)};`,
  `const ${variable} = { ...all_${variable}, __esModule: true };`,
];

/**
 * Makes a module of each package that is run on demand, which runs when it is required.
 *
 * @param {string} resolveDir
 * @returns {import("esbuild").Plugin}
 */
const onDemand = (resolveDir) => ({
  name: "on-demand",
  setup(build) {
    const filter = new RegExp(`^${ON_DEMAND}`);
    build.onResolve({ filter }, ({ path }) => ({
      path: path.slice(ON_DEMAND.length),
      namespace: "on-demand",
    }));
    build.onLoad({ filter: /.*/, namespace: "on-demand" }, ({ path }) => ({
      contents: [...namespaceOf(path, "namespace"), "export { namespace };"].join("\n"),
      resolveDir,
    }));
  },
});
