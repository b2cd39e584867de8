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
  /** The page's script and the parts that are loaded on demand. */
  readonly files: readonly Pick<OutputFile, "path" | "contents">[];
  readonly inputs: Metafile["inputs"];
}

/** The result of a first build. All paths are absolute. */
interface Plan {
  /** The sources that are loaded by `import()`. */
  readonly parts: readonly string[];
  /** The sources that parts share with the page's script. */
  readonly shared: readonly string[];
  /** The source that each import of each source means. */
  readonly imports: ReadonlyMap<string, string>;
}

/**
 * Builds the script of a page as one file, and what it loads by `import()` as further ones, which import from it what
 * both use. esbuild alone would make a file of each set of sources that several parts share: the page waited for 15.
 */
export async function buildPageScripts(
  entry: string,
  options: ScriptOptions,
): Promise<PageScripts> {
  const { absWorkingDir: folder } = options;
  const split = { ...options, format: "esm", splitting: true } as const;
  const planned = await bundle({ ...split, entryPoints: [entry] });
  const plan = planOf(planned.metafile, entry, folder);
  // The page's script and the parts name each other, so its name changes with the content of all of them.
  const hash = createHash("sha256").update(planned.outputFiles.map(({ path }) => path).join());
  const script = `${basename(entry, ".ts")}.${hash.digest("hex").slice(0, 8)}.js`;
  const loaded = await bundle({
    ...split,
    entryPoints: [...plan.parts],
    plugins: [fromScript(script, plan), ...options.plugins],
  });
  const parts = loaded.outputFiles.map((file) => linked(script, file));
  const built = pathsOf(loaded.metafile, folder);
  const own = await bundle({
    ...options,
    format: "esm",
    stdin: {
      contents: exporting(entry, plan, new Set(parts.flatMap(({ used }) => used))),
      resolveDir: folder,
    },
    plugins: [fromParts(built, plan), ...options.plugins],
  });
  const files = own.outputFiles.map(({ contents }) => ({ path: `/assets/${script}`, contents }));
  return { files: [...files, ...parts], inputs: planned.metafile.inputs };
}

function planOf({ inputs, outputs }: Metafile, entry: string, folder: string): Plan {
  const paths = pathsOf({ outputs }, folder);
  const imported = outputs[paths.get(entry) ?? ""]?.imports ?? [];
  const before = imported.filter(({ kind }) => kind === "import-statement");
  const shared = before.flatMap(({ path }) => Object.keys(outputs[path]?.inputs ?? {}));
  const imports = Object.entries(inputs).flatMap(([importer, { imports: each }]) =>
    each.map(
      ({ path, original }) =>
        [keyOf(resolve(folder, importer), original ?? path), resolve(folder, path)] as const,
    ),
  );
  return {
    parts: [...paths.keys()].filter((source) => source !== entry),
    shared: shared.filter(isFile).map((path) => resolve(folder, path)),
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

/** Imports shared sources from the page's script, each under an address that tells which one. */
function fromScript(script: string, { shared, imports }: Plan): Plugin {
  const addresses = new Map(shared.map((source, at) => [source, `./${script}?${at}`]));
  return external("import-statement", addresses, imports);
}

/** Loads parts under their built names. */
function fromParts(built: ReadonlyMap<string, string>, { imports }: Plan): Plugin {
  const addresses = new Map([...built].map(([source, path]) => [source, `./${basename(path)}`]));
  return external("dynamic-import", addresses, imports);
}

/** Leaves imports of these sources to the browser, with their addresses. */
function external(
  kind: ImportKind,
  addresses: ReadonlyMap<string, string>,
  imports: Plan["imports"],
): Plugin {
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
        const path = addresses.get(imports.get(keyOf(asked.importer, asked.path)) ?? "");
        return path === undefined ? undefined : { path, external: true, sideEffects: false };
      }),
  };
}

const escaped = (text: string): string => text.replaceAll(/[^\w/@-]/g, "\\$&");

/**
 * A part whose imports from the page's script have the names that they have there; and those names.
 * @throws Error if it imports or exports all names of a shared source, or its default: under another address the
 * browser would run the page's script again
 */
function linked(script: string, { path, text }: OutputFile) {
  const used: string[] = [];
  const statement = new RegExp(`import\\{([^{}]*)\\}from"\\./${escaped(script)}\\?(\\d+)"`, "g");
  const contents = text.replaceAll(statement, (_, clauses: string, at: string) => {
    const renamed = clauses.split(",").map((clause) => {
      const [name = "", local = name] = clause.split(" as ");
      used.push(nameIn(at, name));
      return `${nameIn(at, name)} as ${local}`;
    });
    return `import{${renamed.join()}}from"./${script}"`;
  });
  if (contents.includes(`${script}?`)) {
    throw new Error(
      `${path} uses a source of the page's script otherwise than by import { name }; import names, and export them from it`,
    );
  }
  return { path, contents: Buffer.from(contents), used };
}

/** The name in the page's script of an export of the shared source with this number. */
const nameIn = (at: number | string, name: string): string => `m${at}_${name}`;

/** The source of the page's script: its entry, and the exports that parts use. */
function exporting(entry: string, { shared }: Plan, used: ReadonlySet<string>): string {
  const clauses = [...used].map((name) => {
    const [, at = "", exported = ""] = /^m(\d+)_(.*)$/.exec(name) ?? [];
    const source = JSON.stringify(shared[Number(at)]);
    return `export { ${exported} as ${name} } from ${source};`;
  });
  return [`import ${JSON.stringify(entry)};`, ...clauses].join("\n");
}
