import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { BuildCache } from "../../host/build-cache.ts";
import { copyInto } from "./copy-into.ts";

/** The npm packages in a cache. */
const PACKAGES = ["vendor", "compiled"];
/** The parts of a cache that are of plugins. They contain the paths of the cache and of the plugins. */
const OF_PLUGINS = ["built", "modules"];
/** Builds of no plugin. */
const SHARED_BUILDS = ["shell.json", "runtime.json"];
const SHIPPED = resolve("plugins");
const CODE = /\.(cjs|mjs)$/;

/** The value of a build: of the server side of a plugin, with its place in the cache, or of a widget. */
interface Built {
  readonly inputs: readonly string[];
  readonly bundle?: string;
}

/**
 * Gives a new data folder the build cache that the run of the tests has prepared, if there is one; on request without
 * npm packages. Of the copies of shipped plugins in the folder `plugins` it has the builds.
 */
export async function copyWarmCache(
  dataFolder: string,
  { hasPackages, plugins }: { readonly hasPackages: boolean; readonly plugins?: string },
): Promise<void> {
  const cache = process.env["TEST_CACHE"];
  const own = join(dataFolder, "cache");
  if (cache === undefined || !existsSync(cache) || existsSync(own)) return; // another run may have replaced it
  const unwanted = [...OF_PLUGINS, ...(hasPackages ? [] : PACKAGES)];
  const names = (await readdir(cache)).filter((name) => !unwanted.includes(name));
  for (const folder of OF_PLUGINS) await mkdir(join(own, folder), { recursive: true });
  const copies = (folder: string, all: readonly string[]) =>
    copyInto(
      join(own, folder),
      all.map((name) => join(cache, folder, name)),
    );
  await Promise.all([copies("", names), copies("built", SHARED_BUILDS)]);
  if (plugins === undefined) return;
  const present = new Set(await readdir(plugins));
  const built = (await readdir(join(cache, "modules"))).filter((id) => present.has(id));
  await copies("modules", built);
  for (const file of await readdir(join(cache, "built"))) {
    const name = basename(file, ".json");
    const [, id = ""] = /^(?:server|widget)-(.+)$/.exec(name) ?? [];
    if (present.has(id)) await copyBuild(name, { cache, own, plugins });
  }
}

/** Copies a build unless a source has changed since the cache was filled. */
async function copyBuild(
  name: string,
  { cache, own, plugins }: { cache: string; own: string; plugins: string },
): Promise<void> {
  const record = await readFile(join(cache, "built", `${name}.json`), "utf8");
  const { entry } = JSON.parse(record) as { entry: string };
  const value = await new BuildCache(cache).find<Built>(name, entry);
  if (value === undefined) return;
  const filled = value.bundle === undefined ? cache : dirname(dirname(dirname(value.bundle)));
  const move = (text: string) =>
    text.replaceAll(`${filled}/`, `${own}/`).replaceAll(`${SHIPPED}/`, `${plugins}/`);
  const moved = JSON.parse(move(JSON.stringify(value))) as Built;
  const startedAt = Number.POSITIVE_INFINITY; // the copied files are newer than the build
  await new BuildCache(own).keep(
    name,
    { entry: move(entry), inputs: moved.inputs, startedAt },
    moved,
  );
  if (moved.bundle !== undefined) await moveCode(dirname(moved.bundle), move);
}

/** Code contains the paths of its sources and of its worker threads. */
async function moveCode(folder: string, move: (text: string) => string): Promise<void> {
  const files = (await readdir(folder)).filter((file) => CODE.test(file));
  for (const path of files.map((file) => join(folder, file))) {
    const code = await readFile(path, "utf8");
    await writeFile(path, move(code));
  }
}
