import { createHash } from "node:crypto";
import { basename, resolve } from "node:path";
import type { BuildOptions, ImportKind, Metafile, OutputFile, Plugin } from "esbuild";
import { buildOnce as bundle } from "../build-service.ts";

/** Options of esbuild that give minified scripts with hashes in their names, and write no file. */
export type ScriptOptions = BuildOptions & {
  readonly absWorkingDir: string;
  readonly write: false;
  readonly metafile: true;
  readonly minify: true;
  readonly plugins: Plugin[];
};

interface PageScripts {
  /** The page's scripts and the parts that are loaded on demand. */
  readonly files: readonly Pick<OutputFile, "path" | "contents">[];
  readonly inputs: Metafile["inputs"];
}

/** One of the page's scripts. */
interface Script {
  readonly entry: string;
  /** The name of its file. */
  readonly name: string;
  /** Its sources that others may import, which are in no script before it. */
  readonly shared: readonly string[];
  /** The exports of shared sources that others use, by their names in the file. */
  readonly used: Set<string>;
}

/** The result of a first build. All paths are absolute. */
interface Plan {
  /** The sources that are loaded by `import()`, without the entries of scripts. */
  readonly parts: readonly string[];
  /** The sources of each script. */
  readonly shared: readonly (readonly string[])[];
  /** The source that each import of each source means. */
  readonly imports: ReadonlyMap<string, string>;
}

/**
 * Builds the scripts of a page, each as one file: the one of the page, and those that every visit loads behind it by
 * `import()`, in their order. A script imports from those before it what both use, and so do the parts that are loaded
 * on demand. esbuild alone would make a file of each set of sources that several parts share: the page waited for 15.
 */
export async function buildPageScripts(
  entries: readonly [page: string, ...later: string[]],
  options: ScriptOptions,
): Promise<PageScripts> {
  const { absWorkingDir: folder } = options;
  const split = { ...options, format: "esm", splitting: true } as const;
  const planned = await bundle({ ...split, entryPoints: [entries[0]] });
  const plan = planOf(planned.metafile, entries, folder);
  // Scripts and parts name each other, so the names of scripts change with the content of all of them.
  const hash = createHash("sha256").update(planned.outputFiles.map(({ path }) => path).join());
  const end = `${hash.digest("hex").slice(0, 8)}.js`;
  const scripts: Script[] = entries.map((entry, at) => {
    const name = `${basename(entry, ".ts")}.${end}`;
    return { entry, name, shared: plan.shared[at] ?? [], used: new Set() };
  });
  const names = new Map(scripts.map(({ entry, name }) => [entry, name]));
  const loaded = await bundle({
    ...split,
    entryPoints: [...plan.parts],
    plugins: [fromScripts(scripts, plan), fromFiles(names, plan), ...options.plugins],
  });
  const files = loaded.outputFiles.map((file) => linked(scripts, file));
  const built = new Map([...pathsOf(loaded.metafile, folder), ...names]);
  for (const [at, script] of [...scripts.entries()].toReversed()) {
    const before = scripts.slice(0, at);
    const own = await bundle({
      ...options,
      format: "esm",
      stdin: { contents: exporting(script), resolveDir: folder },
      plugins: [fromScripts(before, plan), fromFiles(built, plan), ...options.plugins],
    });
    const path = `/assets/${script.name}`;
    files.push(...own.outputFiles.map(({ text }) => linked(before, { path, text })));
  }
  return { files, inputs: planned.metafile.inputs };
}

function planOf({ inputs, outputs }: Metafile, entries: readonly string[], folder: string): Plan {
  const paths = pathsOf({ outputs }, folder);
  const placed = new Set<string>();
  const shared = entries.map((entry) => {
    const path = paths.get(entry) ?? "";
    const imported = outputs[path]?.imports ?? [];
    const before = imported.filter(({ kind }) => kind === "import-statement");
    const sources = [path, ...before.map((each) => each.path)]
      .flatMap((each) => Object.keys(outputs[each]?.inputs ?? {}))
      .filter(isFile)
      .map((source) => resolve(folder, source))
      .filter((source) => !placed.has(source));
    for (const source of sources) placed.add(source);
    return sources;
  });
  const imports = Object.entries(inputs).flatMap(([importer, { imports: each }]) =>
    each.map(
      ({ path, original }) =>
        [keyOf(resolve(folder, importer), original ?? path), resolve(folder, path)] as const,
    ),
  );
  return {
    parts: [...paths.keys()].filter((source) => !entries.includes(source)),
    shared,
    imports: new Map(imports),
  };
}

const keyOf = (importer: string, specifier: string): string => `${importer}\0${specifier}`;

/** False for what a plugin makes, such as the text of a style sheet: each script that uses it has its own. */
const isFile = (path: string): boolean => !/^[a-z-]+:/.test(path);

/** The paths of built files by the sources that they are entered by. */
function pathsOf({ outputs }: Pick<Metafile, "outputs">, folder: string): Map<string, string> {
  const entered = Object.entries(outputs).flatMap(([path, { entryPoint }]) =>
    entryPoint === undefined ? [] : [[resolve(folder, entryPoint), path] as const],
  );
  return new Map(entered);
}

/** Imports shared sources from scripts, each under an address that tells which one. */
function fromScripts(scripts: readonly Script[], { imports }: Plan): Plugin {
  const addresses = scripts.flatMap(({ name, shared }) =>
    shared.map((source, at) => [source, `./${name}?${at}`] as const),
  );
  // When a part is loaded, the page's script has run, and a later one perhaps not.
  const [page] = scripts;
  const hasRun = (source: string) => page?.shared.includes(source) === true;
  return external("import-statement", { addresses: new Map(addresses), hasRun, imports });
}

/** Loads files under their built names. */
function fromFiles(built: ReadonlyMap<string, string>, { imports }: Plan): Plugin {
  const addresses = new Map([...built].map(([source, path]) => [source, `./${basename(path)}`]));
  return external("dynamic-import", { addresses, hasRun: () => true, imports });
}

interface Externals {
  /** By source. */
  readonly addresses: ReadonlyMap<string, string>;
  /** True for a source that has run already, so that an import without names can be left out. */
  readonly hasRun: (source: string) => boolean;
  readonly imports: Plan["imports"];
}

/** Leaves imports of these sources to the browser, with their addresses. */
function external(kind: ImportKind, { addresses, hasRun, imports }: Externals): Plugin {
  const of = new Set(
    [...imports].flatMap(([key, source]) =>
      addresses.has(source) ? [key.split("\0")[1] ?? ""] : [],
    ),
  );
  // If esbuild asked for each import, the dashboard's build would take a third longer.
  const filter = new RegExp(`^(${[...of].map(escaped).join("|")})$`);
  return {
    name: `external-${kind}`,
    setup: (build) =>
      build.onResolve({ filter, namespace: "file" }, (asked) => {
        if (asked.kind !== kind) return undefined;
        const source = imports.get(keyOf(asked.importer, asked.path)) ?? "";
        const path = addresses.get(source);
        return path === undefined
          ? undefined
          : { path, external: true, sideEffects: !hasRun(source) };
      }),
  };
}

const escaped = (text: string): string => text.replaceAll(/[^\w/@-]/g, "\\$&");

/**
 * A file whose imports from scripts have the names that they have there, which are noted as used.
 * @throws Error if it imports or exports all names of a shared source, or its default: under another address the
 * browser would run the script again
 */
function linked(scripts: readonly Script[], { path, text }: Pick<OutputFile, "path" | "text">) {
  let code = text;
  for (const { name: script, used } of scripts) {
    const address = `"\\./${escaped(script)}\\?(\\d+)"`;
    const statement = new RegExp(`import\\{([^{}]*)\\}from${address}`, "g");
    code = code.replaceAll(statement, (_, clauses: string, at: string) => {
      const renamed = clauses.split(",").map((clause) => {
        const [name = "", local = name] = clause.split(" as ");
        used.add(nameIn(at, name));
        return `${nameIn(at, name)} as ${local}`;
      });
      return `import{${renamed.join()}}from"./${script}"`;
    });
    code = code.replaceAll(new RegExp(`import${address}`, "g"), `import"./${script}"`);
    if (code.includes(`${script}?`)) {
      throw new Error(
        `${path} uses a source of ${script} otherwise than by import { name }; import names, and export them from that source`,
      );
    }
  }
  return { path, contents: Buffer.from(code) };
}

/** The name in a script of an export of its shared source with this number. */
const nameIn = (at: number | string, name: string): string => `m${at}_${name}`;

/** The source of a script: its entry, and the exports that others use. */
function exporting({ entry, shared, used }: Script): string {
  const clauses = [...used].map((name) => {
    const [, at = "", exported = ""] = /^m(\d+)_(.*)$/.exec(name) ?? [];
    const source = JSON.stringify(shared[Number(at)]);
    return `export { ${exported} as ${name} } from ${source};`;
  });
  return [`export * from ${JSON.stringify(entry)};`, ...clauses].join("\n");
}
