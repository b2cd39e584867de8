import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { startHost, type TestHost } from "../helpers/host.ts";
import { until } from "../helpers/until.ts";

const RELOADS = 12;
const REQUESTS_PER_SECOND = 200;

test("every GET route answers 200 times a second while plugins reload 12 times", async (t) => {
  const host = await startHost(t);
  const paths = await readablePaths(host);
  const load = startLoad(host, paths);

  const plugins = ["demo-home", "system", "calendar", "mqtt"];
  for (let round = 0; round < RELOADS; round++) {
    const id = plugins[round % plugins.length] ?? "";
    await change(host, id, round);
    const response = await host.api(`/modules/${id}/reload`, { method: "POST" });
    assert.equal(response.status, 200);
  }
  const { statuses, asked } = await load.stop();

  t.diagnostic(`${asked} requests to ${paths.length} routes during ${RELOADS} reloads`);
  assert.deepEqual(statuses, { 200: asked });
  assert.ok(asked > RELOADS);
});

/** Every GET route of the OpenAPI document that ends by itself, with ids that exist. */
async function readablePaths(host: TestHost): Promise<string[]> {
  const document = (await (await host.api("/openapi.json")).json()) as {
    paths: Record<string, { get?: unknown }>;
  };
  await until(async () => (await host.api("/photos")).ok, { withinMs: 20_000 });
  await writeFile(join(host.data, "photos/porch.png"), "a picture");
  const group = { method: "PUT", json: { devices: ["demo:light:1"] } };
  assert.equal((await host.api("/groups/evening", group)).status, 200);
  const ids = {
    groups: "evening",
    devices: "demo:light:1",
    scenes: "demo:scene:1",
    modules: "demo-home",
    automations: await runAutomation(host),
  };
  return (
    Object.entries(document.paths)
      .filter(
        ([path, { get }]) =>
          get !== undefined && !/\/(events|frames)$/.test(path) && path !== "/api",
      )
      // A feed address has to be made first, and a setup or a pairing begun.
      .filter(([path]) => !/\{secret\}|\{userCode\}|\/setup$/.test(path))
      // No account that can be written to is there, and so no event or task has an id.
      .filter(([path]) => !/calendar\/(events|tasks)\/\{id\}$/.test(path))
      .concat([["/api/v1/calendar/events", {}]])
      .map(([path]) => path.replace("/api/v1", ""))
      .map((path) =>
        path.replace(
          /(groups|devices|scenes|modules|automations)\/\{id\}/,
          (_, kind: keyof typeof ids) => `${kind}/${ids[kind]}`,
        ),
      )
      // No plugin is installed, which a search would ask a registry for.
      .filter((path) => !/^\/plugins\/(\{id\}|search)/.test(path))
      .map((path) => path.replace("{plugin}/{name}", "system/sample"))
      .map((path) => path.replace("{name}", "porch.png"))
      .map((path) => path.replace("{locale}", "fr"))
      .map((path) => path.replace(/^\/places$/, "$&?q=Freib"))
      .map((path) => path.replace(/light:1\/image$/, "camera:1/image"))
      .map((path) => path.replace(/light:1\/history$/, "sensor:1/history?field=temperature"))
      .map((path) =>
        path.replace(
          /^\/history\/(readings|statistics|export)$/,
          "$&?device=demo:sensor:1&field=temperature",
        ),
      )
  );
}

/** Saves an automation and runs it, so that it and its runs can be read; its id. */
async function runAutomation(host: TestHost): Promise<string> {
  const created = await host.api("/automations", {
    method: "POST",
    json: {
      name: "Lamp",
      mode: "single",
      triggers: [{ type: "time", at: "04:00" }],
      actions: [{ type: "command", device: "demo:light:1", command: { on: true } }],
    },
  });
  assert.equal(created.status, 201, await created.clone().text());
  const { id } = (await created.json()) as { id: string };
  await host.api(`/automations/${id}/run`, { method: "POST" });
  await until(async () => {
    const { status } = await host.api("/automation-runs");
    return status === 200;
  });
  return id;
}

/** Changes a source so that its bundle differs, and what it does does not. */
async function change(host: TestHost, id: string, round: number): Promise<void> {
  const file = join(host.plugins, id, "index.ts");
  const source = await readFile(file, "utf8");
  const [unmarked] = source.split("\nObject.assign(globalThis");
  await writeFile(file, `${unmarked}\nObject.assign(globalThis, { round: ${round} });\n`);
}

/** Asks all paths in turn at a steady rate, whether or not earlier requests are answered. */
function startLoad(host: TestHost, paths: readonly string[]) {
  const answers: Promise<string>[] = [];
  const timer = setInterval(() => {
    const path = paths[answers.length % paths.length] ?? "/health";
    answers.push(
      host.api(path).then(
        async (response) => {
          await response.arrayBuffer();
          return response.status === 200 ? "200" : `${response.status} ${path}`;
        },
        (error: unknown) => `${String(error)} ${path}`,
      ),
    );
  }, 1_000 / REQUESTS_PER_SECOND);
  return {
    async stop() {
      clearInterval(timer);
      const statuses: Record<string, number> = {};
      for (const status of await Promise.all(answers))
        statuses[status] = (statuses[status] ?? 0) + 1;
      return { statuses, asked: answers.length };
    },
  };
}
