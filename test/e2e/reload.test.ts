import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { startHost, type TestHost } from "../helpers/host.ts";
import { until } from "../helpers/until.ts";

test("a save changes the answer of the host, and a syntax error changes nothing", async (t) => {
  const host = await startHost(t, { plugins: ["plugins/demo-home"] });
  const file = join(host.plugins, "demo-home", "devices.ts");
  const source = await readFile(file, "utf8");
  assert.match(source, /Sofa lamp/);

  await writeFile(file, source.replace("Sofa lamp", "Reading lamp"));
  await until(async () => (await names(host)).includes("Reading lamp"));
  await writeFile(file, source.replace("Sofa lamp", '" + + ;'));
  const { lastReload, state } = await until(async () => {
    const { module } = await moduleOf(host, "demo-home");
    return module.lastReload?.result === "rolled_back" && module;
  });

  assert.equal(state, "active");
  assert.equal(lastReload?.error?.file, "devices.ts");
  assert.ok(lastReload?.error?.line);
  assert.ok((await names(host)).includes("Reading lamp"));

  await writeFile(file, source.replace("Sofa lamp", "Mended lamp"));
  await until(async () => (await names(host)).includes("Mended lamp"));
});

interface ListedModule {
  readonly state: string;
  readonly lastReload: { result: string; error?: { file?: string; line?: number } } | null;
}

async function moduleOf(host: TestHost, id: string): Promise<{ module: ListedModule }> {
  return { module: (await (await host.api(`/modules/${id}`)).json()) as ListedModule };
}

async function names(host: TestHost): Promise<string[]> {
  const response = await host.api("/smart-home/devices");
  const { devices } = (await response.json()) as { devices: { name: string }[] };
  return devices.map(({ name }) => name);
}
