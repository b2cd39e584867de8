import { mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { join, relative, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { ChannelRegistry } from "../host/channels/registry.ts";
import { Bus } from "../host/events/bus.ts";
import { type PluginPackage, readManifest } from "../host/modules/manifest/manifest.ts";
import { ApiPaths } from "../host/routes/api-paths.ts";
import type { RoutedPlugin } from "../host/routes/routed-plugin.ts";
import type { Plugin } from "../plugin-sdk/plugin.ts";
import type { RouteDefinition } from "../plugin-sdk/route.ts";
import { declaredChannels } from "../plugin-sdk/runtime/channels.ts";
import { bundleInto } from "./test/bundle.ts";

const PLUGINS = resolve(import.meta.dirname, "../plugins");
/** Inside node_modules, so that the packages are found from there. */
const CACHE = resolve(import.meta.dirname, "../node_modules/.cache");
const answer = () => Promise.reject(new Error("these routes have no host"));

type Exports = Readonly<Record<string, unknown>>;

/** The paths of the API that plugins have, with their channels and routes, as in a home that runs them. */
interface Shipped {
  readonly apiPaths: ApiPaths;
  readonly channels: ChannelRegistry;
  readonly routed: readonly RoutedPlugin[];
}

/**
 * Reads the manifests of all plugins that ship with Mantel. Of those with paths of the API, the server entry has the
 * channels, and the file `routes.ts` exports the routes.
 */
export async function readShipped(): Promise<Shipped> {
  const apiPaths = new ApiPaths();
  const channels = new ChannelRegistry({ bus: new Bus(), paths: apiPaths });
  const routed: RoutedPlugin[] = [];
  const plugins = (await readManifests()).filter((plugin) => pathsOf(plugin).length > 0);
  const codes = await importAll(
    plugins.flatMap((plugin) => [entryOf(plugin), ...routeFiles(plugin)]),
  );
  for (const plugin of plugins) {
    apiPaths.claim(plugin.id, plugin.manifest.paths);
    channels.admit(plugin.id, declaredChannels(channelsOf(codes.get(entryOf(plugin)))));
    const routes = routeFiles(plugin).flatMap((file) => routesOf(codes.get(file)));
    if (routes.length > 0) routed.push({ id: plugin.id, routes, answer });
  }
  return { apiPaths, channels, routed };
}

async function readManifests(): Promise<readonly PluginPackage[]> {
  const ids = JSON.parse(await readFile(join(PLUGINS, "shipped.json"), "utf8")) as string[];
  return Promise.all(ids.map((id) => readManifest(join(PLUGINS, id))));
}

const pathsOf = ({ manifest }: PluginPackage) => Object.values(manifest.paths ?? {});

const entryOf = ({ folder, manifest }: PluginPackage): string =>
  join(folder, manifest.server ?? "index.ts");

/** None if the plugin has only channels. */
const routeFiles = (plugin: PluginPackage): readonly string[] =>
  pathsOf(plugin).some((claim) => "routes" in claim) ? [join(plugin.folder, "routes.ts")] : [];

const channelsOf = (code: Exports = {}): Plugin["channels"] => (code["default"] as Plugin).channels;

const routesOf = (code: Exports = {}): readonly RouteDefinition[] =>
  (Object.values(code) as RouteDefinition[]).filter(({ at }) => at !== undefined);

/** Imports files from one bundle: tsx would load the SDK again for each of them, which takes twenty times as long. */
async function importAll(files: readonly string[]): Promise<ReadonlyMap<string, Exports>> {
  await mkdir(CACHE, { recursive: true });
  const folder = await mkdtemp(join(CACHE, "mantel-shipped-"));
  try {
    const paths = files.map((file) => relative(".", file));
    const pathOf = await bundleInto(folder, paths);
    const codes = await Promise.all(
      paths.map((path) => import(pathToFileURL(pathOf(path)).href) as Promise<Exports>),
    );
    return new Map(files.map((file, index) => [file, codes[index] ?? {}]));
  } finally {
    await rm(folder, { recursive: true });
  }
}
