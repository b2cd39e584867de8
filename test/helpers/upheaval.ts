import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { findPluginProcesses } from "../../scripts/bench/bench-home.ts";
import type { TestHost } from "./host.ts";
import { until } from "./until.ts";

const BACK = { withinMs: 15_000 };

interface ListedModule {
  readonly state: string;
  readonly generation: number;
  readonly restarts: number;
}

/** A module as the host lists it. */
export async function readModule(host: TestHost, id: string): Promise<ListedModule> {
  return (await (await host.api(`/modules/${id}`)).json()) as ListedModule;
}

/** Saves other code that does the same, and waits until it runs. */
export async function saveEquivalentCode(host: TestHost, id: string): Promise<void> {
  const { generation } = await readModule(host, id);
  const file = join(host.plugins, id, "index.ts");
  const source = await readFile(file, "utf8");
  await writeFile(file, `${source}\nObject.assign(globalThis, { after: ${generation} });\n`);
  await until(async () => (await readModule(host, id)).generation > generation, BACK);
}

/** Kills the process of a module, and waits until it works again. */
export async function crash(host: TestHost, id: string): Promise<void> {
  const isBack = await kill(host, id);
  await isBack();
}

/** Kills the process of a module. What is given waits until the module works again. */
export async function kill(host: TestHost, id: string): Promise<() => Promise<void>> {
  const { restarts } = await readModule(host, id);
  for (const pid of await findPluginProcesses(host.pid, id)) process.kill(pid, "SIGKILL");
  return async () => {
    await until(async () => {
      const now = await readModule(host, id);
      return now.restarts > restarts && ["active", "degraded"].includes(now.state);
    }, BACK);
  };
}
