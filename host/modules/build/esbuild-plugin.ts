import { existsSync, readFileSync, statSync } from "node:fs";
import { stat } from "node:fs/promises";
import { builtinModules, createRequire } from "node:module";
import { dirname, join, resolve, sep } from "node:path";
import { pathToFileURL } from "node:url";
import type { ImportKind, PartialMessage, Plugin, PluginBuild } from "esbuild";
import { ON_DEMAND } from "../../package-bundle.js";
import { linkedPackage, linkNotAllowed } from "../manifest/linked-packages.ts";
import { readOwnTsconfig } from "./own-tsconfig.ts";
import { renamedImports } from "./renamed-imports.ts";

const SDK = "@mantel/plugin-sdk";
/** The SDK as code imports it by `import()`, which Node would look for beside the compiled file. */
const IMPORTED_SDK = "imported-sdk";
const BUILTIN = new Set(builtinModules);
const CONTENT_POLL_MS = 2;
/** The number of checks before an empty file counts as intentionally empty. */
const CONTENT_POLLS = 100;

/** The folder of the SDK. Changes in it affect every module. */
export const SDK_FOLDER = dirname(createRequire(import.meta.url).resolve(SDK));
/** Parts of the SDK that are bundled only with the plugins that import them. */
const BUNDLED_PARTS: ReadonlyMap<string, string> = new Map([
  [`${SDK}/joined-devices`, join(SDK_FOLDER, "joined-devices")],
  [`${SDK}/mqtt`, join(SDK_FOLDER, "mqtt")],
  [`${SDK}/time`, join(SDK_FOLDER, "time")],
  [`${SDK}/vocabulary`, join(SDK_FOLDER, "vocabulary")],
]);

/** The parts of the SDK that a plugin's server side may import, as a phrase. */
const IMPORTABLE = [SDK, ...BUNDLED_PARTS.keys()].map((path) => `"${path}"`).join(", ");

/** A source file that starts its worker threads from compiled files. */
export type CompiledWorkers = { readonly source: string } | { readonly errors: PartialMessage[] };

interface Sources {
  readonly id: string;
  readonly folder: string;
  /**
   * The names of the imported packages, each with a file that imports it; filled during the build. Those that are
   * imported by `import("name")` begin with `ON_DEMAND`.
   */
  readonly packages: Map<string, string>;
  /** The texts of the read files by path; filled during the build. */
  readonly texts: Map<string, string>;
  /** Compiles the worker threads that a source file starts. */
  readonly compileWorkers: (path: string, source: string) => Promise<CompiledWorkers>;
  readonly allowsLinks: (id: string) => boolean;
}

/**
 * Keeps the bundle to the plugin's own files: packages are recorded and left out, paths outside the
 * folder are refused, and `import.meta` of each file keeps its value. A package that is a link is under
 * development: it is bundled like own files, with all its imports.
 *
 * Each path is resolved here, because esbuild otherwise reads "type": "module" beside the file and then
 * takes a package's whole CommonJS export for its default; the vendor bundle handles defaults itself.
 */
export function pluginSources(sources: Sources): Plugin {
  const { id, folder, packages, texts, compileWorkers, allowsLinks } = sources;
  const packageOf = (
    path: string,
    from: { importer: string; resolveDir: string; kind: ImportKind },
  ) => {
    const isLinked = !path.startsWith(SDK) && linkedPackage(from.resolveDir, path) !== undefined;
    if (!isLinked) return packageImport(path, from, packages);
    if (allowsLinks(id)) return undefined;
    return { errors: [{ text: linkNotAllowed(`the package ${path}`, id) }] };
  };
  return {
    name: "plugin-sources",
    setup(build) {
      build.onResolve(
        { filter: /.*/ },
        async ({ path, resolveDir, kind, importer, pluginData }) => {
          if (pluginData === pluginSources || path.startsWith("node:") || BUILTIN.has(path))
            return undefined;
          if (path.startsWith(ON_DEMAND)) return { path, external: true };
          if (kind === "entry-point") return { path };
          const part = BUNDLED_PARTS.get(path);
          if (part !== undefined) return { path: join(part, "index.ts") };
          if (isInBundledSdk(resolveDir))
            return importOfPart(path, { importer, resolveDir, packages });
          const isOwn = `${resolveDir}${sep}`.startsWith(folder + sep);
          if (!isOwn && path !== SDK) return undefined;
          if (!/^\.{0,2}\//.test(path)) {
            const file =
              path === SDK ? undefined : await aliasedFile(path, { folder, kind }, build);
            if (file !== undefined) return { path: file };
            return packageOf(path, { importer, resolveDir, kind });
          }
          return ownFile(path, { folder, resolveDir, kind }, build);
        },
      );
      build.onLoad({ filter: /.*/, namespace: IMPORTED_SDK }, () => ({
        contents: `module.exports = require(${JSON.stringify(SDK)});`,
      }));
      build.onLoad({ filter: /.*/, namespace: "on-demand" }, ({ path }) => ({
        contents: `module.exports = require(${JSON.stringify(ON_DEMAND + path)})();`,
      }));
      build.onLoad({ filter: /\.[cm]?[jt]sx?$/, namespace: "file" }, async ({ path }) => {
        if (statSync(path).size === 0) await waitForContent(path);
        const source = readFileSync(path, "utf8"); // synchronous: ten small files take longer as asynchronous reads
        texts.set(path, source);
        const loader = /\.[cm]?tsx?$/.test(path) ? "ts" : "js";
        const errors = renamedImports(path, source);
        if (errors.length > 0) return { errors };
        const compiled = await compileWorkers(path, source);
        if ("errors" in compiled) return compiled;
        return { contents: valuesOfImportMeta(path, source) + compiled.source, loader };
      });
    },
  };
}

/** True for files of the SDK that become part of a plugin's bundle. */
export function isInBundledSdk(folder: string): boolean {
  return [...BUNDLED_PARTS.values()].some((part) => `${folder}${sep}`.startsWith(part + sep));
}

/** Refuses the SDK in worker threads, which have no plugin; imports of its types are gone by then. */
export const NO_SDK: Plugin = {
  name: "no-sdk",
  setup: (build) =>
    build.onResolve({ filter: /^@mantel\/plugin-sdk(\/|$)/ }, ({ path }) => {
      const text = `a worker thread may import only types from ${path}; it exchanges messages with the plugin, which calls the SDK`;
      return { errors: [{ text }] };
    }),
};

/** Gives `import.meta` its values in every file. */
export const importMeta: Plugin = {
  name: "import-meta",
  setup(build) {
    build.onLoad({ filter: /\.[cm]?[jt]sx?$/ }, ({ path }) => {
      const source = readFileSync(path, "utf8");
      const loader = /\.[cm]?tsx?$/.test(path) ? "ts" : "js";
      const values = valuesOfImportMeta(path, source);
      return values === "" ? undefined : { contents: values + source, loader };
    });
  },
};

/** Resolves imports by the path aliases in the plugin's own `tsconfig.json`. */
export function ownAliases(folder: string): Plugin {
  return {
    name: "own-aliases",
    setup(build) {
      build.onResolve({ filter: /^[^./]/ }, async ({ path, kind, resolveDir, pluginData }) => {
        const isOwn = `${resolveDir}${sep}`.startsWith(folder + sep);
        if (pluginData === pluginSources || !isOwn || INSTALLED.test(resolveDir)) return undefined;
        const file = await aliasedFile(path, { folder, kind }, build);
        return file === undefined ? undefined : { path: file };
      });
    },
  };
}

const INSTALLED = /[\\/]node_modules([\\/]|$)/;

/** The plugin's file that an import by an alias means. */
async function aliasedFile(
  path: string,
  { folder, kind }: { folder: string; kind: ImportKind },
  build: PluginBuild,
): Promise<string | undefined> {
  for (const target of readOwnTsconfig(folder).targetsOf(path)) {
    if (!target.startsWith(folder + sep)) continue;
    const asked = { resolveDir: folder, kind, pluginData: pluginSources };
    const found = await build.resolve(target, asked);
    if (found.errors.length === 0 && found.path.startsWith(folder + sep)) return found.path;
  }
  return undefined;
}

/** Files beside the parts exist once per process, under the name of the SDK. */
function importOfPart(
  path: string,
  {
    importer,
    resolveDir,
    packages,
  }: Pick<Sources, "packages"> & Record<"importer" | "resolveDir", string>,
) {
  if (!path.startsWith(".")) return packageImport(path, { importer }, packages);
  const file = join(resolveDir, path);
  return isInBundledSdk(dirname(file)) ? { path: file } : { path: SDK, external: true };
}

async function ownFile(
  path: string,
  { folder, ...from }: { folder: string; resolveDir: string; kind: ImportKind },
  build: PluginBuild,
) {
  let file = resolve(from.resolveDir, path);
  if (!/\.\w+$/.test(path) || !existsSync(file)) {
    const found = await build.resolve(path, { ...from, pluginData: pluginSources });
    if (found.errors.length > 0) return { errors: found.errors };
    file = found.path;
  }
  if (file.startsWith(folder + sep)) return { path: file };
  return { errors: [{ text: `${path} is outside the plugin's folder` }] };
}

function packageImport(
  path: string,
  { importer, kind }: { importer: string; kind?: ImportKind },
  packages: Map<string, string>,
) {
  if (path === SDK)
    return kind === "dynamic-import" ? { path, namespace: IMPORTED_SDK } : { path, external: true };
  if (path.startsWith(`${SDK}/`)) {
    return {
      errors: [{ text: `a plugin's server side imports ${IMPORTABLE}, not ${path}` }],
    };
  }
  if (kind === "dynamic-import") {
    packages.set(ON_DEMAND + path, importer);
    return { path, namespace: "on-demand" };
  }
  packages.set(path, importer);
  return { path, external: true };
}

/** Added to the first line, so that every line of the source keeps its number. */
function valuesOfImportMeta(path: string, source: string): string {
  if (!source.includes("import.meta")) return "";
  const values = { Url: pathToFileURL(path).href, Filename: path, Dirname: dirname(path) };
  return Object.entries(values)
    .map(([name, value]) => `const __mantel${name} = ${JSON.stringify(value)};`)
    .join("");
}

/**
 * Waits for the content of a file that an editor has truncated and is about to write. Returns for a file
 * that stays empty or does not exist.
 */
async function waitForContent(path: string): Promise<void> {
  for (let tries = 0; tries < CONTENT_POLLS && (await isEmpty(path)); tries++) {
    await new Promise((done) => setTimeout(done, CONTENT_POLL_MS));
  }
}

async function isEmpty(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => undefined);
  return found?.isFile() === true && found.size === 0;
}
