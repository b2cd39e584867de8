import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, dirname, join } from "node:path";
import vm from "node:vm";
import * as sdk from "../index.ts";
import type { Plugin } from "../plugin.ts";
import type { PrepareRequest } from "../protocol.ts";

const SDK = "@mantel/plugin-sdk";

export type Require = (specifier: string) => unknown;
/** What a bundle exports: its code, waiting for the `require` it is to use. */
type Bundle = (require: Require, module: { exports: Exports }, exports: Exports) => void;
type Exports = Record<string, unknown>;

/** Imports the packages of a plugin, and gives what its bundle is to find them with. */
export function loadPackages({ vendor, folder, compiled }: PrepareRequest): Require {
  const fromFolder: Require = createRequire(`${folder}/package.json`);
  const packages = vendor === undefined ? {} : runCached(vendor, compiled, fromFolder);
  return (specifier) => {
    if (specifier === SDK) return sdk;
    if (Object.hasOwn(packages, specifier)) return packages[specifier];
    return fromFolder(specifier);
  };
}

/** Imports a plugin's bundle and gives its default export. Runs the top level, and no more. */
export function loadPlugin(bundle: string, require: Require): Plugin {
  return checkPlugin(run(bundle, require)["default"]);
}

/**
 * Runs the bundle of packages from compiled code that an earlier process left in `compiled`, which takes
 * a third of the time. Code of another V8 is rejected by V8 itself, and made again.
 */
function runCached(file: string, compiled: string, require: Require): Exports {
  const cache = join(compiled, `${basename(file)}.${process.version}.cache`);
  const source = `(function (module, __filename, __dirname) {${readFileSync(file, "utf8")}\n})`;
  const script = new vm.Script(source, {
    filename: file,
    importModuleDynamically: vm.constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
    ...(existsSync(cache) ? { cachedData: readFileSync(cache) } : {}),
  });
  const holder = { exports: {} as Bundle };
  const open = script.runInThisContext() as (...parts: unknown[]) => void;
  open(holder, file, dirname(file));
  const module = { exports: {} as Exports };
  holder.exports(require, module, module.exports);
  if (script.cachedDataRejected !== false) keepCompiled(script, cache);
  return module.exports;
}

/** Made after the first run, so that it holds the functions that were needed. The one before goes. */
function keepCompiled(script: vm.Script, cache: string): void {
  const folder = dirname(cache);
  const temporary = `${cache}.${process.pid}.tmp`;
  try {
    const old = readdirSync(folder).filter((name) => name.endsWith(".cache"));
    writeFileSync(temporary, script.createCachedData());
    renameSync(temporary, cache);
    for (const name of old)
      if (name !== basename(cache)) rmSync(join(folder, name), { force: true });
  } catch {
    // The next process compiles once more.
  }
}

/** Runs a bundle. Node's own loader reads it, because only that one follows its source map. */
function run(file: string, require: Require): Exports {
  const bundle = createRequire(file)(file) as Bundle;
  const module = { exports: {} as Exports };
  bundle(require, module, module.exports);
  return module.exports;
}

/** @throws TypeError when a plugin's default export is not what `definePlugin` gives. */
function checkPlugin(plugin: unknown): Plugin {
  const candidate = plugin as Partial<Plugin> | null | undefined;
  if (candidate?.mantelPlugin !== 1 || typeof candidate.start !== "function") {
    throw new TypeError(
      `the default export is ${plugin === undefined ? "missing" : "not a plugin"}: write "export default definePlugin({ ... })"`,
    );
  }
  return candidate as Plugin;
}
