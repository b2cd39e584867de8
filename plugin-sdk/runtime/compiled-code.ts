import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, dirname, join } from "node:path";
import vm from "node:vm";

export type Require = (specifier: string) => unknown;
export type Exports = Record<string, unknown>;
/**
 * The export of a compiled file: its code as a function of the `require` that it uses. It returns a promise if the
 * code awaits at its top level.
 */
type Compiled = (
  require: Require,
  module: { exports: Exports },
  exports: Exports,
) => void | Promise<void>;

/** Runs a bundle with Node's own loader, because only that one reads its source map. */
export function runBundle(file: string, require: Require): Exports {
  const module = { exports: {} as Exports };
  void (createRequire(file)(file) as Compiled)(require, module, module.exports);
  return module.exports;
}

/** The same for a bundle that may await at its top level. */
export async function awaitBundle(file: string, require: Require): Promise<Exports> {
  const module = { exports: {} as Exports };
  await (createRequire(file)(file) as Compiled)(require, module, module.exports);
  return module.exports;
}

const HEAD = "(function (module, __filename, __dirname) {";

/** A bundle that was run with compiled code from a cache. */
interface CachedRun {
  readonly exports: Exports;
  /**
   * Saves the compiled code of all functions that have run by now, if there was none that V8 accepted. Functions that
   * run later are compiled again in each process.
   */
  save(): void;
}

/** The compiled code of a bundle in the cache folder `compiled`. */
export function compiledPath(file: string, compiled: string): string {
  return join(compiled, `${basename(file)}.${process.version}.cache`);
}

/**
 * Runs a bundle with V8's compiled code from the cache folder `compiled`, which takes a third of the time and does
 * not read its source map. V8 rejects code of another V8 version or of a process with other V8 flags.
 */
export function runCached(file: string, compiled: string, require: Require): CachedRun {
  const cache = compiledPath(file, compiled);
  const script = new vm.Script(`${HEAD}${readFileSync(file, "utf8")}\n})`, {
    filename: file,
    columnOffset: -HEAD.length,
    importModuleDynamically: vm.constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
    ...(existsSync(cache) ? { cachedData: readFileSync(cache) } : {}),
  });
  const holder = { exports: {} as Compiled };
  const open = script.runInThisContext() as (...parts: unknown[]) => void;
  open(holder, file, dirname(file));
  const module = { exports: {} as Exports };
  void holder.exports(require, module, module.exports);
  const wasCompiled = script.cachedDataRejected === false;
  return {
    exports: module.exports,
    save: () => {
      if (!wasCompiled) saveCompiled(script, cache);
    },
  };
}

/** Replaces an old file. */
function saveCompiled(script: vm.Script, cache: string): void {
  const folder = dirname(cache);
  const temporary = `${cache}.${process.pid}.tmp`;
  try {
    const old = readdirSync(folder).filter((name) => name.endsWith(".cache"));
    writeFileSync(temporary, script.createCachedData());
    renameSync(temporary, cache);
    for (const name of old)
      if (name !== basename(cache)) rmSync(join(folder, name), { force: true });
  } catch {
    // The next process compiles again.
  }
}
