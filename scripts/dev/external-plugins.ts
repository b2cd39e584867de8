import { existsSync, readFileSync, realpathSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join, relative } from "node:path";
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
 * Writes TypeScript projects for the plugins in `folders` to `place` and returns their paths. Server entries are
 * checked with Node's types, widgets with those of a browser, as in the repository. Files that a plugin does not
 * import, such as tests, are not checked.
 */
export async function writeTsProjects(
  folders: readonly string[],
  place: string,
): Promise<string[]> {
  if (folders.length === 0) return [];
  // Imported late, so that the host starts first.
  const { discover } = await import("../../host/modules/manifest/discover.ts");
  const { plugins } = await discover(folders, { allowsLink: () => true });
  const entries = (kind: "server" | "widget") =>
    [...plugins.values()]
      .flatMap(({ folder, manifest }) => (manifest[kind] ? [join(folder, manifest[kind])] : []))
      .filter((entry) => existsSync(entry));
  const [servers, widgets] = [entries("server"), entries("widget")];
  const projects: string[] = [];
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
