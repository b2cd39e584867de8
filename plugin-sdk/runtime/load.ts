import { createRequire } from "node:module";
import * as sdk from "../index.ts";
import { namedExports } from "../named-exports.ts";
import type { Plugin } from "../plugin.ts";
import type { PrepareRequest } from "../protocol.ts";
import { awaitBundle, type Exports, type Require, runCached } from "./compiled-code.ts";
import { freeze } from "./primordials.ts";

const SDK = "@mantel/plugin-sdk";
/** Begins the name of a package in a bundle that runs it when the code imports it by `import("name")`. */
const ON_DEMAND = "on-demand:";

/** The SDK as plugins import it. Its modules run when they are first used. */
export const imported = namedExports(SDK, frozenOnUse(sdk));

/** Imports the packages of a plugin and returns the `require` function for its bundle. */
export function loadPackages({ vendor, folder, compiled }: PrepareRequest): Require {
  const fromFolder: Require = createRequire(`${folder}/package.json`);
  const packages = vendor === undefined ? {} : runPackages(vendor, compiled, fromFolder);
  return (specifier) => {
    if (specifier === SDK) return imported;
    if (Object.hasOwn(packages, specifier)) return packages[specifier];
    if (!specifier.startsWith(ON_DEMAND)) return fromFolder(specifier);
    return () => fromFolder(specifier.slice(ON_DEMAND.length));
  };
}

/** The exports, whose functions no plugin can change. */
function frozenOnUse(exports: Readonly<Record<string, unknown>>): object {
  const frozen = {};
  for (const name of Object.keys(exports)) {
    const get = (): unknown => {
      const exported = exports[name];
      return typeof exported === "function" ? freeze(exported) : exported;
    };
    Object.defineProperty(frozen, name, { enumerable: true, get });
  }
  return frozen;
}

function runPackages(vendor: string, compiled: string, require: Require): Exports {
  const run = runCached(vendor, compiled, require);
  run.save();
  return run.exports;
}

/** Imports a plugin's bundle and returns its default export. Only the top-level code runs. */
export async function loadPlugin(bundle: string, require: Require): Promise<Plugin> {
  return checkPlugin((await awaitBundle(bundle, require))["default"]);
}

/** @throws TypeError if the default export is not a result of `definePlugin` */
function checkPlugin(plugin: unknown): Plugin {
  const candidate = plugin as Partial<Plugin> | null | undefined;
  if (candidate?.mantelPlugin !== 1 || typeof candidate.start !== "function") {
    throw new TypeError(
      `the default export is ${plugin === undefined ? "missing" : "not a plugin"}: write "export default definePlugin({ ... })"`,
    );
  }
  return candidate as Plugin;
}
