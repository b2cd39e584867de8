import { existsSync, realpathSync } from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";
import type { Plugin } from "esbuild";
import { SDK_FOLDER } from "./esbuild-plugin.ts";

const MANTEL = resolve(import.meta.dirname, "../../..");

/**
 * Keeps a bundle to the plugin's folder, the SDK and installed packages, after resolving links. The host reads
 * these files on behalf of the plugin, which must not get files it could not read itself, such as the host's keys.
 * If `allowsLinks` is true, the user allowed this plugin's links to its author's sources.
 */
export function sourceBoundary(folder: string, allowsLinks: () => boolean): Plugin {
  return {
    name: "source-boundary",
    setup(build) {
      const roots = [folder, SDK_FOLDER, ...packageFolders(folder)].map(realPath);
      build.onLoad({ filter: /.*/, namespace: "file" }, ({ path }) => {
        if (allowsLinks()) return undefined;
        const real = realPath(path);
        const root = roots.find((each) => isWithin(real, each));
        if (root !== undefined && !isOwnOfMantel(real, root)) return undefined;
        const shown = relative(folder, path);
        return { errors: [{ text: `${shown} is outside the plugin's folder and its packages` }] };
      });
    },
  };
}

/**
 * True for Mantel's own files. Mantel may be an installed package itself; plugins may read only the packages beside
 * it.
 */
function isOwnOfMantel(path: string, root: string): boolean {
  return isWithin(path, MANTEL) && !isWithin(root, MANTEL);
}

/** All folders in which a file of `folder` finds its packages. */
export function packageFolders(folder: string): string[] {
  const parent = dirname(folder);
  return [join(folder, "node_modules"), ...(parent === folder ? [] : packageFolders(parent))];
}

function isWithin(path: string, folder: string): boolean {
  return path.startsWith(folder + sep);
}

function realPath(path: string): string {
  return existsSync(path) ? realpathSync(path) : path;
}
