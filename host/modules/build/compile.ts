import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { basename, dirname, join, resolve, sep } from "node:path";
import type { BuildFailure, BuildOptions, BuildResult } from "esbuild";
import { BuildCache } from "../../build-cache.ts";
import { Rebuilder } from "../../build-service.ts";
import { WRAPPED } from "../../package-bundle.js";
import { SOURCES_FILE, storeSources } from "./built-sources.ts";
import { hashOf } from "./code-hash.ts";
import { toReloadFailure } from "./compiler-errors.ts";
import { isInBundledSdk, pluginSources } from "./esbuild-plugin.ts";
import { refuseMissingEntry } from "./missing-entry.ts";
import { readOwnTsconfig } from "./own-tsconfig.ts";
import { sourceBoundary } from "./source-boundary.ts";
import { awaitingCode, isFile, needsAwait } from "./top-level-await.ts";
import { VendorCache } from "./vendor.ts";
import { compileWorkers, WORKER_FILE } from "./workers.ts";

/** One compiled server side. Equal hashes mean equal behaviour. */
export interface Bundle {
  readonly hash: string;
  readonly bundle: string;
  readonly vendor: string | undefined;
  /** Absolute paths of every source file in the bundle: the module graph. */
  readonly inputs: ReadonlySet<string>;
  /** The file with the texts of the sources, for errors of the running code. */
  readonly sources?: string | undefined;
}

/** The code that makes bundles: when it changes, all bundles are built again. */
const MAKERS = [
  "compile.ts",
  "built-sources.ts",
  "esbuild-plugin.ts",
  "own-tsconfig.ts",
  "native-packages.ts",
  "top-level-await.ts",
  "workers.ts",
  "../manifest/linked-packages.ts",
  "source-boundary.ts",
  "../../package-bundle.js",
].map((name) => join(import.meta.dirname, name));

/** The part of a build that survives a host restart; the packages may have been installed again by then. */
interface Remembered {
  readonly hash: string;
  readonly bundle: string;
  readonly vendor: string | null;
  /** npm packages, and a file that imports each. */
  readonly imports: readonly (readonly [string, string])[];
  readonly inputs: readonly string[];
  readonly sources: string;
}

type Options = BuildOptions & { write: false; metafile: true };

interface OpenBuild {
  readonly entry: string;
  readonly build: Rebuilder<Options>;
  /** npm packages that the last build imported, and a file that imports each. */
  readonly packages: Map<string, string>;
  /** Source files in worker threads of the last build. */
  readonly workerInputs: Set<string>;
  /** The texts of the source files of the last build. */
  readonly texts: Map<string, string>;
}

/** Compiles the server sides of plugins, incrementally, into `<cache>/modules/<id>/`. */
export class Compiler {
  readonly #cacheFolder: string;
  readonly #vendors: VendorCache;
  readonly #built: BuildCache;
  readonly #openBuilds = new Map<string, OpenBuild>();
  readonly #allowsLinks: (id: string) => boolean;

  /** `allowsLinks` is true if packages that a module imports may be links to sources elsewhere. */
  constructor(cacheFolder: string, allowsLinks: (id: string) => boolean = () => false) {
    this.#cacheFolder = cacheFolder;
    this.#allowsLinks = allowsLinks;
    this.#vendors = new VendorCache(join(cacheFolder, "vendor"));
    this.#built = new BuildCache(cacheFolder);
  }

  /**
   * Compiles the files on disk, or returns the cached build of identical files.
   * @throws MantelError `reload_failed`, with the source location if there is one
   */
  async compile(id: string, folder: string, server: string): Promise<Bundle> {
    const entry = join(folder, server);
    const remembered = this.#openBuilds.has(id)
      ? undefined
      : await this.#remembered(id, folder, entry);
    return remembered ?? this.#build(id, folder, entry);
  }

  async #remembered(id: string, folder: string, entry: string): Promise<Bundle | undefined> {
    const found = await this.#built.find<Remembered>(`server-${id}`, entry);
    if (!found || dirname(found.bundle) !== this.#folderOf(id)) return undefined; // of a copied data folder
    if (!existsSync(found.bundle)) return undefined;
    const { hash, bundle, imports, inputs, sources } = found;
    const vendor = await this.#vendors.bundle(id, folder, new Map(imports));
    return (vendor ?? null) === found.vendor
      ? { hash, bundle, vendor, inputs: new Set(inputs), sources }
      : undefined;
  }

  async #build(id: string, folder: string, entry: string): Promise<Bundle> {
    refuseMissingEntry("server", entry, folder);
    const startedAt = Date.now();
    const { result, open } = await this.#rebuild(id, folder, entry).catch((error: unknown) => {
      throw toReloadFailure(error, folder);
    });
    const code = result.outputFiles.find((file) => file.path.endsWith(".cjs"))?.text ?? "";
    const map = result.outputFiles.find((file) => file.path.endsWith(".map"))?.text ?? "";
    const files = Object.keys(result.metafile.inputs).filter(isFile);
    const tsconfig = [readOwnTsconfig(folder).file].filter((file) => file !== undefined);
    const sourceFiles = files.map((path) => resolve(path));
    const inputs = new Set([...sourceFiles, ...open.workerInputs, ...tsconfig]);
    const vendor = await this.#vendors.bundle(id, folder, open.packages);
    const hash = hashOf(code + (vendor ?? ""));
    const bundle = await this.#write(id, hash, { code, map });
    const sources = await storeSources(dirname(bundle), open.texts);
    open.texts.clear();
    const madeFrom = { entry, inputs: [...inputs, ...MAKERS], startedAt };
    const remembered: Remembered = {
      hash,
      bundle,
      vendor: vendor ?? null,
      imports: [...open.packages],
      inputs: [...inputs],
      sources,
    };
    if (hasNoLinks(inputs, folder)) await this.#built.keep(`server-${id}`, madeFrom, remembered);
    return { hash, bundle, vendor, inputs, sources };
  }

  /**
   * Removes the bundles of a module that are not in `builds`. Resolves to true if packages became unused
   * by that; `pruneVendors` then removes them.
   */
  async prune(id: string, builds: readonly Bundle[]): Promise<boolean> {
    const folder = this.#folderOf(id);
    const names = await readdir(folder).catch(() => []);
    const bundles = names.filter((name) => /\.cjs(\.map)?$/.test(name));
    const stale = bundles.filter((name) => !builds.some(({ hash }) => name.startsWith(`${hash}.`)));
    stale.push(...(await unusedWorkers(names, builds)));
    const usedSources = new Set(builds.map(({ sources }) => basename(sources ?? "")));
    stale.push(...names.filter((name) => SOURCES_FILE.test(name) && !usedSources.has(name)));
    await Promise.all(stale.map((name) => rm(join(folder, name), { force: true })));
    const vendors = builds.map(({ vendor }) => vendor);
    return this.#vendors.uses(id, vendors);
  }

  /** Removes bundles of packages that no module uses. `others` are still used by builds that are not running. */
  async pruneVendors(others: readonly string[]): Promise<void> {
    await this.#vendors.prune(others);
  }

  async forget(id: string): Promise<void> {
    const open = this.#openBuilds.get(id);
    this.#openBuilds.delete(id);
    await open?.build.dispose();
  }

  async close(): Promise<void> {
    await Promise.all([...this.#openBuilds.keys()].map((id) => this.forget(id)));
  }

  #folderOf(id: string): string {
    return join(this.#cacheFolder, "modules", id);
  }

  /** Builds once more in another form if the code awaits at its top level. */
  async #rebuild(
    id: string,
    folder: string,
    entry: string,
  ): Promise<{ result: BuildResult<Options>; open: OpenBuild }> {
    const run = async (open: OpenBuild) => {
      open.packages.clear();
      open.workerInputs.clear();
      open.texts.clear();
      return { result: await open.build.rebuild(), open };
    };
    const known = this.#openBuilds.get(id);
    const open = known?.entry === entry ? known : await this.#openBuild(id, folder, entry, {});
    try {
      return await run(open);
    } catch (error) {
      if (!needsAwait(error as Partial<BuildFailure>)) throw error;
      return run(await this.#openBuild(id, folder, entry, awaitingCode(folder, entry)));
    }
  }

  async #openBuild(
    id: string,
    folder: string,
    entry: string,
    { plugins = [], ...form }: Partial<BuildOptions>,
  ): Promise<OpenBuild> {
    await this.forget(id);
    const packages = new Map<string, string>();
    const workerInputs = new Set<string>();
    const texts = new Map<string, string>();
    const outdir = this.#folderOf(id);
    const allowsLinks = this.#allowsLinks;
    const withWorkers = (path: string, source: string) =>
      compileWorkers(path, source, { folder, outdir, inputs: workerInputs });
    const build = new Rebuilder<Options>({
      ...WRAPPED,
      entryPoints: [entry],
      outdir,
      outExtension: { ".js": ".cjs" },
      bundle: true,
      platform: "node",
      format: "cjs",
      target: "node20",
      sourcemap: "external",
      sourcesContent: false,
      logLevel: "silent",
      tsconfigRaw: {}, // a stray tsconfig.json must not change how a plugin is compiled
      loader: { ".wasm": "binary" },
      define: {
        "import.meta.url": "__mantelUrl",
        "import.meta.filename": "__mantelFilename",
        "import.meta.dirname": "__mantelDirname",
      },
      ...form,
      write: false,
      metafile: true,
      plugins: [
        ...plugins,
        sourceBoundary(folder, () => allowsLinks(id)),
        pluginSources({ id, folder, packages, texts, compileWorkers: withWorkers, allowsLinks }),
      ],
    });
    const open = { entry, build, packages, workerInputs, texts };
    this.#openBuilds.set(id, open);
    return open;
  }

  async #write(id: string, hash: string, { code, map }: { code: string; map: string }) {
    const folder = this.#folderOf(id);
    const bundle = join(folder, `${hash}.cjs`);
    await mkdir(folder, { recursive: true });
    // The map may differ when the code is equal: a comment moves lines.
    await writeFile(`${bundle}.map`, map);
    const text = `${code}\n//# sourceMappingURL=${basename(bundle)}.map\n`;
    // Different content under this name was truncated by a crash or a full disk.
    if ((await readFile(bundle, "utf8").catch(() => "")) !== text) await writeFile(bundle, text);
    return bundle;
  }
}

/** The compiled worker threads among these files that no build starts. */
async function unusedWorkers(
  names: readonly string[],
  builds: readonly Bundle[],
): Promise<readonly string[]> {
  const workers = names.filter((name) => name.endsWith(".worker.mjs"));
  if (workers.length === 0) return [];
  const codes = await Promise.all(
    builds.map(({ bundle }) => readFile(bundle, "utf8").catch(() => "")),
  );
  const used = new Set(codes.flatMap((code) => code.match(WORKER_FILE) ?? []));
  return workers.filter((name) => !used.has(name));
}

/**
 * True if no input was reached through a link. The config decides on links at each build, so such builds are not
 * cached.
 */
function hasNoLinks(inputs: ReadonlySet<string>, folder: string): boolean {
  const isOwn = (file: string) => file.startsWith(folder + sep) || isInBundledSdk(dirname(file));
  return [...inputs].every(isOwn);
}
