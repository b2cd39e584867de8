import type { PluginView } from "../../host/api/plugin.ts";
import { openRunningHost, type RunningHostOptions } from "../running-host.ts";
import type { Changed, PluginHome } from "./home.ts";

/** The plugins of a running host, through its API. */
export async function openRunningHome(options: RunningHostOptions): Promise<PluginHome> {
  const { ask, close } = await openRunningHost("plugin", "admin", options);
  const of = (id: string, action = "") => `/plugins/${id}${action}`;
  return {
    list: async (latest) =>
      (await ask({ method: "GET", path: `/plugins?latest=${latest}` })) as {
        plugins: PluginView[];
        unknown: Record<string, string>;
      },
    search: async (words) => {
      const path = `/plugins/search?q=${encodeURIComponent(words)}`;
      const { packages } = (await ask({ method: "GET", path })) as {
        packages: Awaited<ReturnType<PluginHome["search"]>>;
      };
      return packages;
    },
    install: async (body) => (await ask({ method: "POST", path: "/plugins", body })) as Changed,
    update: async (id, body) =>
      (await ask({ method: "POST", path: of(id, "/update"), body })) as Changed,
    pin: async (id, pinned) =>
      (await ask({ method: "POST", path: of(id, "/pin"), body: { pinned } })) as PluginView,
    remove: async (id, purge) =>
      void (await ask({ method: "DELETE", path: `${of(id)}?purge=${purge}` })),
    needed: ({ consent }) => consent?.needed ?? [],
    consent: async ({ id, consent }) => {
      const body = { needed: consent?.needed ?? [] };
      await ask({ method: "POST", path: `/modules/${id}/consent`, body });
    },
    close,
  };
}
