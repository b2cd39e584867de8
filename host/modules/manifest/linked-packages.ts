import { existsSync, realpathSync } from "node:fs";
import { dirname, join, sep } from "node:path";
import { findLinkStat } from "../../safe-stat.ts";

const INSTALLED = `${sep}node_modules${sep}`;

/**
 * The real folder of a package that is a link to sources under development, as `npm link` makes it; `undefined`
 * for an installed one. `from` is the folder of the file that imports it.
 */
export function linkedPackage(from: string, specifier: string): string | undefined {
  const [scope = "", name = ""] = specifier.split("/");
  const inModules = join("node_modules", scope, scope.startsWith("@") ? name : "");
  for (let place = from; ; place = dirname(place)) {
    const found = findLinkStat(join(place, inModules));
    if (found?.isSymbolicLink() === true) return outside(join(place, inModules));
    if (found || place === dirname(place)) return undefined;
  }
}

/** The target of a link, unless it is among installed packages, as with pnpm. */
function outside(link: string): string | undefined {
  if (!existsSync(link)) return undefined;
  const real = realpathSync(link);
  return real.includes(INSTALLED) ? undefined : real;
}

/** The properties of a module that decide if it uses linked files. */
interface Linking {
  readonly plugin: { readonly folder: string };
  readonly inputs: ReadonlySet<string>;
}

/** The folders outside `roots` that modules use: plugins and packages that are links. */
export function linkedFolders(roots: readonly string[], modules: Iterable<Linking>): Set<string> {
  const folders = [...modules].flatMap((module) => {
    const { folder } = module.plugin;
    return [...(roots.includes(dirname(folder)) ? [] : [folder]), ...packageLinks(module)];
  });
  return new Set(folders);
}

/** True if a module uses a linked package in this folder. */
export function usesLink(module: Linking, folder: string): boolean {
  return packageLinks(module).has(folder);
}

interface Links {
  /** The plugin's folder: during a move the inputs may already be those of the next one. */
  readonly folder: string;
  readonly links: ReadonlySet<string>;
}

/** By the inputs of a build: each change of a module asks for them. */
const linksOfBuilds = new WeakMap<ReadonlySet<string>, Links>();

function packageLinks(module: Linking): ReadonlySet<string> {
  const { folder } = module.plugin;
  const known = linksOfBuilds.get(module.inputs);
  if (known?.folder === folder) return known.links;
  const links = findLinks(module);
  linksOfBuilds.set(module.inputs, { folder, links });
  return links;
}

function findLinks({ plugin, inputs }: Linking): Set<string> {
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

/** The error message for a link that the config does not allow. */
export function linkNotAllowed(what: string, id: string): string {
  return `${what} is a link; set modules.${id}.links to true in the config to allow it`;
}
