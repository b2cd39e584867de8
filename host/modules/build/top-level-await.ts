import type { BuildFailure, BuildOptions, ImportKind, Plugin } from "esbuild";

/** The name of the file that exports what the plugin's entry exports. */
const ENTRY = "mantel-entry.js";
const NAMESPACE = "required";

/** False for the inputs of a build that are not files: those of esbuild plugins begin with a namespace. */
export function isFile(input: string): boolean {
  return !input.endsWith(`/${ENTRY}`) && input !== ENTRY && !/^[a-z-]+:/.test(input);
}

/** True if a build failed only because its code awaits at the top level. */
export function needsAwait({ errors = [] }: Partial<BuildFailure>): boolean {
  const isAwait = (text: string) => text.startsWith("Top-level await is currently not supported");
  return errors.length > 0 && errors.every(({ text }) => isAwait(text));
}

/**
 * The build options for code that awaits at its top level. The bundle is the body of an async function of its
 * `require`. CommonJS cannot await, so it is built as an ES module that has no imports and no exports of its own.
 */
export function awaitingCode(folder: string, entry: string): Partial<BuildOptions> {
  return {
    banner: {
      // a second name, because esbuild takes a file that uses `exports` for CommonJS
      js: "module.exports = async function (require, module, exports) { const exported = exports;",
    },
    entryPoints: [],
    stdin: {
      contents: `import * as plugin from ${JSON.stringify(entry)}; Object.assign(exported, plugin);`,
      resolveDir: folder,
      sourcefile: ENTRY,
    },
    format: "esm",
    plugins: [REQUIRED],
  };
}

const IMPORTS: ReadonlySet<ImportKind> = new Set(["import-statement", "dynamic-import"]);

/** Turns imports of files outside the bundle into modules of the bundle that require them. */
const REQUIRED: Plugin = {
  name: "required",
  setup(build) {
    build.onResolve({ filter: /.*/ }, async ({ path, pluginData, ...from }) => {
      if (from.namespace === NAMESPACE) return { path, external: true };
      if (!IMPORTS.has(from.kind) || pluginData !== undefined) return undefined;
      const found = await build.resolve(path, { ...from, pluginData: REQUIRED });
      return found.external ? { path: found.path, namespace: NAMESPACE } : found;
    });
    build.onLoad({ filter: /.*/, namespace: NAMESPACE }, ({ path }) => ({
      contents: `module.exports = require(${JSON.stringify(path)});`,
      loader: "js",
    }));
  },
};
