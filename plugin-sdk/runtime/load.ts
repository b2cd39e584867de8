import { createRequire } from "node:module";
import * as sdk from "../index.ts";
import type { Plugin } from "../plugin.ts";
import type { PrepareRequest } from "../protocol.ts";
import { type Require, runBundle, runPackages } from "./compiled-code.ts";

const SDK = "@mantel/plugin-sdk";

/** Imports the packages of a plugin, and gives what its bundle is to find them with. */
export function loadPackages({ vendor, folder, compiled }: PrepareRequest): Require {
  const fromFolder: Require = createRequire(`${folder}/package.json`);
  const packages = vendor === undefined ? {} : runPackages(vendor, compiled, fromFolder);
  return (specifier) => {
    if (specifier === SDK) return sdk;
    if (Object.hasOwn(packages, specifier)) return packages[specifier];
    return fromFolder(specifier);
  };
}

/** Imports a plugin's bundle and gives its default export. Runs the top level, and no more. */
export function loadPlugin(bundle: string, require: Require): Plugin {
  return checkPlugin(runBundle(bundle, require)["default"]);
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
