import { readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { tsImport } from "tsx/esm/api";
import { ChannelRegistry } from "../host/channels/registry.ts";
import { Bus } from "../host/events/bus.ts";
import { type PluginPackage, readManifest } from "../host/modules/manifest/manifest.ts";
import { ApiPaths } from "../host/routes/api-paths.ts";
import type { RoutedPlugin } from "../host/routes/routed-plugin.ts";
import type { Plugin } from "../plugin-sdk/plugin.ts";
import type { RouteDefinition } from "../plugin-sdk/route.ts";
import { declaredChannels } from "../plugin-sdk/runtime/channels.ts";

const PLUGINS = resolve(import.meta.dirname, "../plugins");
const answer = () => Promise.reject(new Error("these routes have no host"));

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
  const ids = JSON.parse(await readFile(join(PLUGINS, "shipped.json"), "utf8")) as string[];
  for (const id of ids) {
    const plugin = await readManifest(join(PLUGINS, id));
    const paths = Object.values(plugin.manifest.paths ?? {});
    if (paths.length === 0) continue;
    apiPaths.claim(plugin.id, plugin.manifest.paths);
    channels.admit(plugin.id, declaredChannels(await channelsOf(plugin)));
    if (paths.some((claim) => "routes" in claim)) {
      routed.push({ id: plugin.id, routes: await routesOf(plugin), answer });
    }
  }
  return { apiPaths, channels, routed };
}

async function channelsOf(plugin: PluginPackage): Promise<Plugin["channels"]> {
  const code = await importFrom(plugin, plugin.manifest.server ?? "index.ts");
  return (code["default"] as Plugin).channels;
}

async function routesOf(plugin: PluginPackage): Promise<readonly RouteDefinition[]> {
  const exported = Object.values(await importFrom(plugin, "routes.ts")) as RouteDefinition[];
  return exported.filter(({ at }) => at !== undefined);
}

/** Also in a bundle, which runs without a loader of TypeScript. */
async function importFrom({ folder }: PluginPackage, file: string) {
  const place = pathToFileURL(join(folder, file)).href;
  return (await tsImport(place, import.meta.url)) as Record<string, unknown>;
}
