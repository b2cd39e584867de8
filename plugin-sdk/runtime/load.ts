import { createRequire } from "node:module";
import * as sdk from "../index.ts";
import type { Plugin } from "../plugin.ts";
import type { LoadRequest } from "../protocol.ts";

const SDK = "@mantel/plugin-sdk";

type Require = (specifier: string) => unknown;
/** What a bundle exports: its code, waiting for the `require` it is to use. */
type Bundle = (require: Require, module: { exports: Exports }, exports: Exports) => void;
type Exports = Record<string, unknown>;

/** Imports a plugin's bundle and gives its default export. Runs the top level, and no more. */
export function loadPlugin({ bundle, vendor, folder }: LoadRequest): Plugin {
  const fromFolder: Require = createRequire(`${folder}/package.json`);
  const packages = vendor === undefined ? {} : run(vendor, fromFolder);
  const require: Require = (specifier) => {
    if (specifier === SDK) return sdk;
    if (Object.hasOwn(packages, specifier)) return packages[specifier];
    return fromFolder(specifier);
  };
  return checkPlugin(run(bundle, require)["default"]);
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
