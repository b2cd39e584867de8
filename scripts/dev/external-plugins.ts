import { existsSync, readFileSync, realpathSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { readOptions } from "../../host/options.ts";

const ROOT = realpathSync(".");

/** Packages that the host provides to plugins, with the paths of their types. */
const GIVEN = {
  lit: "node_modules/lit/index.d.ts",
  "lit/*": "node_modules/lit/*",
  "@preact/signals-core": "node_modules/@preact/signals-core/dist/signals-core.d.ts",
};

/** The configured plugin folders outside the repository. */
export function externalPluginFolders(): string[] {
  try {
    const { pluginFolders } = readOptions(process.argv.slice(2), process.env, ROOT);
    const found = pluginFolders.filter((folder) => existsSync(folder));
    return found.map((each) => realpathSync(each)).filter((each) => !isInRepository(each));
  } catch {
    return []; // the host reports invalid options
  }
}

/**
 * The TypeScript projects of the plugins in `folders`: a plugin's own, if it has a `tsconfig.json` and an installed
 * SDK. For the others, projects are written to `place`: server entries are checked with Node's types, widgets with
 * those of a browser, as in the repository; files that a plugin does not import, such as tests, are not checked.
 */
export async function tsProjects(folders: readonly string[], place: string): Promise<string[]> {
  if (folders.length === 0) return [];
  // Imported late, so that the host starts first.
  const { discover } = await import("../../host/modules/manifest/discover.ts");
  const { plugins } = await discover(folders, { allowsLink: () => true });
  const [own, others] = partition([...plugins.values()], ({ folder }) => hasOwnProject(folder));
  const entries = (kind: "server" | "widget") =>
    others
      .flatMap(({ folder, manifest }) => (manifest[kind] ? [join(folder, manifest[kind])] : []))
      .filter((entry) => existsSync(entry));
  const [servers, widgets] = [entries("server"), entries("widget")];
  const projects = own.map(({ folder }) => join(folder, "tsconfig.json"));
  const add = async (name: string, base: string, files: readonly string[]): Promise<void> => {
    projects.push(join(place, name));
    await writeFile(join(place, name), JSON.stringify(projectOf(base, files)));
  };
  const assets = join(ROOT, "plugin-sdk/assets.d.ts");
  if (servers.length > 0) await add("node.json", "tsconfig.json", servers);
  if (widgets.length > 0) {
    await add("browser.json", "host/dashboard/tsconfig.json", [assets, ...widgets]);
  }
  return projects;
}

/** True if the compiler finds the SDK from the folder, as an author's own one does. */
function hasOwnProject(folder: string): boolean {
  if (!existsSync(join(folder, "tsconfig.json"))) return false;
  for (let place = folder; ; place = dirname(place)) {
    if (existsSync(join(place, "node_modules/@mantel/plugin-sdk"))) return true;
    if (place === dirname(place)) return false;
  }
}

function partition<T>(all: readonly T[], isFirst: (each: T) => boolean): [T[], T[]] {
  return [all.filter(isFirst), all.filter((each) => !isFirst(each))];
}

function projectOf(base: string, files: readonly string[]): object {
  const compilerOptions = {
    module: "ESNext",
    moduleResolution: "Bundler", // the same settings as at run time
    typeRoots: [join(ROOT, "node_modules/@types")],
    paths: pathsOfGiven(),
  };
  return { extends: join(ROOT, base), compilerOptions, files, include: [], exclude: [] };
}

function pathsOfGiven(): Record<string, string[]> {
  const sdk = JSON.parse(readFileSync(join(ROOT, "plugin-sdk/package.json"), "utf8")) as {
    readonly name: string;
    readonly exports: Readonly<Record<string, string>>;
  };
  const ofSdk = Object.entries(sdk.exports).map(([key, file]) => [
    key.replace(".", sdk.name),
    join("plugin-sdk", file),
  ]);
  const given = [...ofSdk, ...Object.entries(GIVEN)] as [string, string][];
  return Object.fromEntries(given.map(([name, file]) => [name, [join(ROOT, file)]]));
}

function isInRepository(folder: string): boolean {
  return !relative(ROOT, folder).startsWith("..");
}
