import { existsSync, readFileSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import type { Plugin } from "esbuild";

/** Packages with which others find, fetch or build their native code. */
const LOADERS = new Set([
  "@mapbox/node-pre-gyp",
  "@neon-rs/load",
  "bindings",
  "detect-libc",
  "node-gyp-build",
  "node-gyp-build-optional-packages",
  "pkg-prebuilds",
  "prebuild-install",
]);
/** The end of the name of a package with the native code for one platform, such as `@img/sharp-linux-x64`. */
const PLATFORM = /[-/](linux|darwin|win32)[-_.].*(x64|arm)/;
const LARGEST = 2 ** 20;

interface PackageFile {
  readonly name?: string;
  readonly main?: string;
  readonly gypfile?: boolean;
  readonly binary?: unknown;
  readonly napi?: unknown;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

/**
 * Leaves packages with native code out of a bundle: they find their binaries beside their own files. The bundle
 * loads them by their absolute path, as Node resolves it from the file that imports them.
 */
export const NATIVE_PACKAGES: Plugin = {
  name: "native-packages",
  setup(build) {
    const known = new Map<string, boolean>();
    build.onResolve({ filter: /^[^./]/ }, ({ path, resolveDir }) => {
      const folder = path.startsWith("node:") ? undefined : packageFolder(path, resolveDir);
      if (folder === undefined) return undefined;
      if (!known.has(folder)) known.set(folder, hasNativeCode(folder));
      const file = known.get(folder) === true ? resolved(path, resolveDir) : undefined;
      return file === undefined ? undefined : { path: file, external: true };
    });
  },
};

/** True for a package that loads native code, and for one that is the native code of a platform. */
export function hasNativeCode(folder: string): boolean {
  const { name, main, gypfile, binary, napi, dependencies, optionalDependencies } =
    packageFile(folder);
  if (gypfile === true || (binary ?? napi) !== undefined || main?.endsWith(".node") === true)
    return true;
  if (["binding.gyp", "prebuilds"].some((each) => existsSync(join(folder, each)))) return true;
  const needed = Object.keys({ ...dependencies, ...optionalDependencies });
  return needed.some(isNativePart) || (name !== undefined && PLATFORM.test(name));
}

function isNativePart(name: string): boolean {
  return LOADERS.has(name) || PLATFORM.test(name);
}

function packageFile(folder: string): PackageFile {
  const file = join(folder, "package.json");
  if (statSync(file).size > LARGEST) return {};
  try {
    return JSON.parse(readFileSync(file, "utf8")) as PackageFile;
  } catch {
    return {}; // esbuild names the fault
  }
}

/** The folder of an installed package, as a file in `from` finds it. */
function packageFolder(specifier: string, from: string): string | undefined {
  const [scope = "", name = ""] = specifier.split("/");
  const wanted = scope.startsWith("@") ? join(scope, name) : scope;
  for (let place = from; ; place = dirname(place)) {
    const folder = join(place, "node_modules", wanted);
    if (existsSync(join(folder, "package.json"))) return folder;
    if (place === dirname(place)) return undefined;
  }
}

/** The file that `require` loads; `undefined` for a package that can only be imported. */
function resolved(specifier: string, from: string): string | undefined {
  try {
    return createRequire(join(from, "importer.js")).resolve(specifier);
  } catch {
    return undefined;
  }
}
