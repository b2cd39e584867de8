import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Plugin } from "esbuild";
import { SDK_FOLDER } from "./esbuild-plugin.ts";

/** Files that only export parts of others. */
const LISTS: readonly string[] = [
  join(SDK_FOLDER, "index.ts"),
  join(SDK_FOLDER, "services", "index.ts"),
];
export const SCHEMA_LIBRARY_ENTRY = join(SDK_FOLDER, "runtime", "schema-library.ts");
/** The files from which the generated parts of a bundle come. */
export const SDK_ON_USE_FILES: readonly string[] = [import.meta.filename, ...LISTS];
const LOADER = "./runtime/load-schema-library.ts";
const LIBRARY = "schema-library";
const LIST = "sdk-list";
const EXPORTS = /^export \{([^}]*)\} from "([^"]+)";$/gm;

/** True for the name of an input that is generated. */
export const isSdkOnUse = (path: string): boolean => /^(schema-library|sdk-list):/.test(path);

/**
 * An esbuild plugin for the code of plugin processes: a module of the SDK runs when a plugin first uses one of its
 * exports, and the library for schemas is loaded when one of them makes a schema. Most plugins use a few of them.
 */
export const sdkOnUse: Plugin = {
  name: "sdk-on-use",
  setup(build) {
    build.onResolve({ filter: /[\\/]index\.ts$/ }, ({ path, resolveDir }) => {
      const file = join(resolveDir, path);
      return LISTS.includes(file) ? { path: file, namespace: LIST } : undefined;
    });
    build.onLoad({ filter: /.*/, namespace: LIST }, async ({ path }) => {
      const modules = exportsIn(await readFile(path, "utf8"));
      return { contents: modules.map(onUse).join("\n"), resolveDir: dirname(path) };
    });
    build.onResolve({ filter: /^typebox(\/|$)/ }, ({ path }) => ({ path, namespace: LIBRARY }));
    build.onLoad({ filter: /.*/, namespace: LIBRARY }, ({ path }) => {
      const found = exportsIn(readFileSync(SCHEMA_LIBRARY_ENTRY, "utf8"));
      const names = found.find(({ from }) => from === path)?.names;
      if (!names) return { errors: [{ text: `add ${path} to ${SCHEMA_LIBRARY_ENTRY}` }] };
      const contents = [
        `const { loadSchemaLibrary } = require(${JSON.stringify(LOADER)});`,
        ...names.map((name) => getter(name, `loadSchemaLibrary().${name}`)),
      ].join("\n");
      return { contents, resolveDir: SDK_FOLDER };
    });
  },
};

/** The values that a file exports of others. */
function exportsIn(text: string): { readonly from: string; readonly names: readonly string[] }[] {
  return [...text.matchAll(EXPORTS)].map(([, list = "", from = ""]) => {
    const names = list.split(",").map((name) => name.trim());
    return { from, names: names.filter((name) => name !== "" && !name.startsWith("type ")) };
  });
}

function onUse({ from, names }: ReturnType<typeof exportsIn>[number], at: number): string {
  const module = `(module${at} ??= require(${JSON.stringify(from)}))`;
  return [`let module${at};`, ...names.map((name) => getter(name, `${module}.${name}`))].join("\n");
}

const getter = (name: string, value: string): string =>
  `Object.defineProperty(exports, "${name}", { enumerable: true, get: () => ${value} });`;
