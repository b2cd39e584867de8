import { createRequire } from "node:module";
import { type Require, runCached } from "@mantel/plugin-sdk/compiled-code";
import type * as Main from "./main.ts";

/** The code of the compiled host, which is loaded and has not begun to do anything. */
export interface LoadedHost {
  readonly main: typeof Main;
  /** True if V8 had compiled the sources in an earlier start. */
  readonly wasCompiled: boolean;
  /** Saves the compiled code of all functions that have run by now. */
  readonly save: () => void;
}

/** The file of the host's own sources among the files that it is compiled to. */
export const sourcesOf = (base: string): string => `${base}.sources.cjs`;

/** Runs the packages and the sources of the compiled host, whose files begin with `base`. */
export function loadCompiled(base: string): LoadedHost {
  const require: Require = createRequire(sourcesOf(base));
  const packages = runCached(`${base}.packages.cjs`, cacheOf(base, "packages"), require);
  const requireThem = withPackages(packages.exports, require);
  const host = runCached(sourcesOf(base), cacheOf(base, "sources"), requireThem);
  const save = (): void => {
    packages.save();
    host.save();
  };
  const { exports, wasCompiled } = host;
  return { main: exports as unknown as typeof Main, wasCompiled, save };
}

/** In a function of its own: a snapshot cannot hold the scripts, so nothing that stays may refer to them. */
function withPackages(exports: Readonly<Record<string, unknown>>, require: Require): Require {
  return (specifier) =>
    Object.hasOwn(exports, specifier) ? exports[specifier] : require(specifier);
}

/** The folder of V8's compiled code of the packages or the sources. */
const cacheOf = (base: string, part: "packages" | "sources"): string => `${base}.cache/${part}`;
