import { createHash } from "node:crypto";
import { basename, resolve } from "node:path";
import type {
  BuildOptions,
  ImportKind,
  Metafile,
  OnResolveResult,
  OutputFile,
  Plugin,
  PluginBuild,
} from "esbuild";
import { buildOnce as bundle } from "../build-service.ts";

/** Options of esbuild that give scripts with hashes in their names, and write no file. */
export type ScriptOptions = BuildOptions & {
  readonly absWorkingDir: string;
  readonly write: false;
  readonly metafile: true;
  readonly plugins: Plugin[];
};

interface PageScripts {
  /** The page's script and the parts that are loaded on demand. */
  readonly files: readonly Pick<OutputFile, "path" | "contents">[];
  /** The path of the page's script. */
  readonly script: string;
  readonly inputs: Metafile["inputs"];
}

/** The exported names of source files, by path. */
type Exports = ReadonlyMap<string, readonly string[]>;

/**
 * Builds the script of a page as one file, and what it loads by `import()` as further ones, which import from it what
 * both use. esbuild alone would make a file of each set of sources that several parts share: the page waited for 15.
 *
 * @throws Error if two of the shared sources export the same name
 */
export async function buildPageScripts(
  entry: string,
  options: ScriptOptions,
): Promise<PageScripts> {
  const { absWorkingDir: folder } = options;
  const split = { ...options, format: "esm", splitting: true } as const;
  const plan = await bundle({ ...split, entryPoints: [entry] });
  const { parts, shared } = planOf(plan.metafile, entry, folder);
  const exports = await exportsOf(shared, split);
  // The page's script and the parts name each other, so its name changes with the content of all of them.
  const hash = createHash("sha256").update(plan.outputFiles.map(({ path }) => path).join());
  const script = `/assets/${basename(entry, ".ts")}.${hash.digest("hex").slice(0, 8)}.js`;
  const loaded = await bundle({
    ...split,
    entryPoints: parts,
    plugins: [fromScript(script, exports), ...options.plugins],
  });
  const used = new Set(loaded.outputFiles.flatMap(({ text }) => importsFrom(script, text)));
  const own = await bundle({
    ...options,
    format: "esm",
    stdin: { contents: exporting(entry, exports, used), resolveDir: folder },
    plugins: [fromParts(pathsOf(loaded.metafile, folder)), ...options.plugins],
  });
  const files = own.outputFiles.map(({ contents }) => ({ path: script, contents }));
  return { files: [...files, ...loaded.outputFiles], script, inputs: plan.metafile.inputs };
}

/** The sources that are loaded by `import()`, and those that they share with the page's script. */
function planOf(metafile: Metafile, entry: string, folder: string) {
  const paths = pathsOf(metafile, folder);
  const imports = metafile.outputs[paths.get(entry) ?? ""]?.imports ?? [];
  const before = imports.filter(({ kind }) => kind === "import-statement");
  const shared = before.flatMap(({ path }) => Object.keys(metafile.outputs[path]?.inputs ?? {}));
  return {
    parts: [...paths.keys()].filter((source) => source !== entry),
    shared: shared.filter(isFile).map((path) => resolve(folder, path)),
  };
}

/** False for what a plugin makes, such as the text of a style sheet: each script that uses it has its own. */
const isFile = (path: string): boolean => !/^[a-z-]+:/.test(path);

async function exportsOf(sources: string[], options: ScriptOptions): Promise<Exports> {
  const { metafile } = await bundle({ ...options, entryPoints: sources });
  const exports = new Map(
    [...pathsOf(metafile, options.absWorkingDir)].map(([source, path]) => [
      source,
      metafile.outputs[path]?.exports ?? [],
    ]),
  );
  checkNames(exports);
  return exports;
}

/** A package may export what another file of it does. */
function checkNames(exports: Exports): void {
  const own = [...exports].filter(([source]) => !source.includes("/node_modules/"));
  for (const [source, names] of own) {
    for (const [other, others] of exports) {
      const twice = source === other ? undefined : names.find((name) => others.includes(name));
      if (twice === undefined) continue;
      throw new Error(
        `${source} and ${other} both export ${twice}; rename one, because a page's script and its parts share both files`,
      );
    }
  }
}

/** Imports shared sources from the page's script. */
function fromScript(script: string, exports: Exports): Plugin {
  const external = { path: `./${basename(script)}`, external: true };
  return {
    name: "from-script",
    setup: (build) =>
      onFile(build, "import-statement", (source) => (exports.has(source) ? external : undefined)),
  };
}

/** Loads parts under their built names. */
function fromParts(paths: ReadonlyMap<string, string>): Plugin {
  return {
    name: "from-parts",
    setup: (build) =>
      onFile(build, "dynamic-import", (source) => {
        const path = paths.get(source);
        return path === undefined ? undefined : { path: `./${basename(path)}`, external: true };
      }),
  };
}

/** Resolves imports of this kind by the file that they mean. */
function onFile(
  build: PluginBuild,
  kind: ImportKind,
  answer: (source: string) => OnResolveResult | undefined,
): void {
  const isResolving = {};
  build.onResolve({ filter: /.*/, namespace: "file" }, async (asked) => {
    if (asked.kind !== kind || asked.pluginData === isResolving) return undefined;
    const { path, ...place } = asked;
    const found = await build.resolve(path, { ...place, pluginData: isResolving });
    return found.namespace === "file" ? answer(found.path) : undefined;
  });
}

/** The source of the page's script: its entry, and the exports that parts use. */
function exporting(entry: string, exports: Exports, used: ReadonlySet<string>): string {
  const left = new Set(used);
  const shared = [...exports].map(([source, names]) => {
    const needed = names.filter((name) => left.delete(name));
    return needed.length === 0 ? "" : `export {${needed.join()}} from ${JSON.stringify(source)};`;
  });
  return [`import ${JSON.stringify(entry)};`, ...shared].join("\n");
}

/** The names that a script, as esbuild writes it, imports from another one. */
function importsFrom(script: string, text: string): string[] {
  const statements = text.matchAll(/import\{([^{}]*)\}from"\.\/([^"]*)"/g);
  return [...statements].flatMap(([, names = "", file]) =>
    file === basename(script) ? names.split(",").map((name) => name.split(" ")[0] ?? "") : [],
  );
}

/** The paths of built files by the sources that they are entered by. */
function pathsOf({ outputs }: Metafile, folder: string): Map<string, string> {
  const entered = Object.entries(outputs).flatMap(([path, { entryPoint }]) =>
    entryPoint === undefined ? [] : [[resolve(folder, entryPoint), path] as const],
  );
  return new Map(entered);
}
