import { existsSync, realpathSync } from "node:fs";
import { dirname, join, sep } from "node:path";
import { lstatOf } from "../../stat-of.ts";

const INSTALLED = `${sep}node_modules${sep}`;

/**
 * The real folder of a package that is a link to somebody's sources, as `npm link` makes it; `undefined`
 * for one that is installed. `from` is the folder of the file that imports it.
 */
export function linkedPackage(from: string, specifier: string): string | undefined {
  const [scope = "", name = ""] = specifier.split("/");
  const inModules = join("node_modules", scope, scope.startsWith("@") ? name : "");
  for (let place = from; ; place = dirname(place)) {
    const found = lstatOf(join(place, inModules));
    if (found?.isSymbolicLink() === true) return outside(join(place, inModules));
    if (found || place === dirname(place)) return undefined;
  }
}

/** Where a link leads, unless that is among installed packages, as pnpm lays them out. */
function outside(link: string): string | undefined {
  if (!existsSync(link)) return undefined;
  const real = realpathSync(link);
  return real.includes(INSTALLED) ? undefined : real;
}

/** What of a module says whether it is made of files that lie elsewhere. */
interface Linking {
  readonly plugin: { readonly folder: string };
  readonly inputs: ReadonlySet<string>;
}

/** The folders beside `roots` that modules are made of: plugins and packages that are links. */
export function foldersBeside(roots: readonly string[], modules: Iterable<Linking>): Set<string> {
  const folders = [...modules].flatMap((module) => {
    const { folder } = module.plugin;
    return [...(roots.includes(dirname(folder)) ? [] : [folder]), ...linkedFolders(module)];
  });
  return new Set(folders);
}

/** Whether a module is made of a linked package in this folder. */
export function usesLink(module: Linking, folder: string): boolean {
  return linkedFolders(module).has(folder);
}

function linkedFolders({ plugin, inputs }: Linking): Set<string> {
  const { folder } = plugin;
  const linked = new Set<string>();
  for (const file of inputs) {
    if (file.startsWith(folder + sep) || file.includes(INSTALLED)) continue;
    if ([...linked].some((each) => file.startsWith(each + sep))) continue;
    linked.add(packageOf(file));
  }
  return linked;
}

function packageOf(file: string): string {
  for (let place = dirname(file); place !== dirname(place); place = dirname(place)) {
    if (existsSync(join(place, "package.json"))) return place;
  }
  return dirname(file);
}

/** What to tell whoever uses a link that the config does not allow. */
export function linkRefusal(what: string, id: string): string {
  return `${what} is a link; set modules.${id}.links to true in the config if it is meant to be one`;
}
