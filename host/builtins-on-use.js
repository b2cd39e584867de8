// Part of bundling Mantel's own sources. Plain JavaScript, because the host is compiled before anything could load
// TypeScript.

const ON_USE = "on-use";
/** This file, from which a part of each bundle comes. */
export const ON_USE_FILE = import.meta.filename;

/**
 * An esbuild plugin that loads these modules of Node when something of them is first used, and not with the bundle.
 * Their lists of texts, such as the methods of HTTP, are in the bundle.
 *
 * @param {readonly string[]} names
 * @returns {import("esbuild").Plugin}
 */
export const builtinsOnUse = (names) => ({
  name: "builtins-on-use",
  setup(build) {
    const filter = new RegExp(`^(node:)?(${names.join("|")})$`);
    build.onResolve({ filter }, ({ path }) => ({
      path: path.replace(/^node:/, ""),
      namespace: ON_USE,
    }));
    build.onLoad({ filter: /.*/, namespace: ON_USE }, ({ path }) => ({ contents: codeOf(path) }));
  },
});

/** True for the name of an input that is not a file. */
export const isOnUse = (path) => path.startsWith(`${ON_USE}:`);

function codeOf(name) {
  const entries = Object.entries(process.getBuiltinModule(`node:${name}`));
  const lists = entries.filter(([, value]) => Array.isArray(value));
  const others = entries.filter(([, value]) => !Array.isArray(value)).map(([key]) => key);
  return `let module;
    Object.assign(exports, ${JSON.stringify(Object.fromEntries(lists))});
    for (const name of ${JSON.stringify(others)}) Object.defineProperty(exports, name, {
      enumerable: true, get: () => (module ??= process.getBuiltinModule("node:${name}"))[name] });`;
}
