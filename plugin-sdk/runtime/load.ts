import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname } from "node:path";
import vm from "node:vm";
import * as sdk from "../index.ts";
import type { Plugin } from "../plugin.ts";
import type { LoadRequest } from "../protocol.ts";

const SDK = "@mantel/plugin-sdk";

/** Imports a plugin's bundle and gives its default export. Runs the top level, and no more. */
export function loadPlugin({ bundle, vendor, folder }: LoadRequest): Plugin {
  const fromFolder = createRequire(`${folder}/package.json`);
  const packages = vendor === undefined ? {} : runScript(vendor, fromFolder);
  const require = (specifier: string): unknown => {
    if (specifier === SDK) return sdk;
    if (Object.hasOwn(packages, specifier)) return packages[specifier];
    return fromFolder(specifier);
  };
  return checkPlugin(runScript(bundle, require)["default"]);
}

/** Runs a CommonJS file and gives its exports. Dynamic imports of packages go Node's own way. */
function runScript(file: string, require: (specifier: string) => unknown): Record<string, unknown> {
  const script = new vm.Script(
    `(function (exports, require, module, __filename, __dirname) {${readFileSync(file, "utf8")}\n})`,
    { filename: file, importModuleDynamically: vm.constants.USE_MAIN_CONTEXT_DEFAULT_LOADER },
  );
  const module = { exports: {} as Record<string, unknown> };
  const run = script.runInThisContext() as (...parts: unknown[]) => void;
  run(module.exports, require, module, file, dirname(file));
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
