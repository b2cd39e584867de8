import assert from "node:assert/strict";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { startHost } from "../../../helpers/host.ts";
import { packageJson } from "../../../helpers/module.ts";
import { until } from "../../../helpers/until.ts";

const SOURCE = `
import { definePlugin, MantelError, Type } from "@mantel/plugin-sdk";
export default definePlugin({
  options: Type.Object({ address: Type.String({ pattern: "^[a-z.]+$" }) }),
  test: async ({ config }) => {
    if (config.address === "gone.local") throw new MantelError("bridge_down", "nobody answers there");
    return "a lamp at " + config.address;
  },
  setup: ({ ask }) => ask({ title: "Where?", form: Type.Object({ address: Type.String() }) }),
  start: () => undefined,
});`;

test("a module is tried and set up over HTTP, by an admin alone", async (t) => {
  const host = await startHost(t, { plugins: [] });
  const folder = join(host.plugins, "odd");
  await mkdir(folder);
  await writeFile(join(folder, "index.ts"), SOURCE);
  await writeFile(join(folder, "package.json"), packageJson("odd", { requiresConfig: true }));
  const ask = async (path: string, json?: unknown, method = json ? "POST" : "GET") => {
    const request = json === undefined ? { method } : { method, json };
    const response = await host.api(`/modules/odd${path}`, request);
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  };
  await until(async () => (await ask("")).body["state"] === "unconfigured");

  const found = await ask("/test", { address: "lamp.local" });
  const gone = await ask("/test", { address: "gone.local" });
  const misfit = await ask("/test", { address: "NO" });
  const none = await ask("/setup");
  const begun = await ask("/setup", undefined, "POST");
  const again = await ask("/setup", undefined, "POST");
  await until(async () => (await ask("/setup")).body["state"] === "asking");
  const wrong = await ask("/setup/answer", { step: 1, answer: { address: 7 } });
  const right = await ask("/setup/answer", { step: 1, answer: { address: "lamp.local" } });
  await until(async () => (await ask("")).body["state"] === "active");
  const ended = await ask("/setup", undefined, "DELETE");
  const refused = await host.api("/modules/odd/test", { method: "POST", scope: "edit", json: {} });

  assert.deepEqual([found.body["ok"], found.body["detail"]], [true, "a lamp at lamp.local"]);
  assert.deepEqual([gone.body["ok"], gone.body["detail"]], [false, "nobody answers there"]);
  assert.equal(misfit.status, 422);
  assert.equal((misfit.body["errors"] as { pointer: string }[])[0]?.pointer, "/address");
  assert.equal(none.status, 404);
  assert.deepEqual([begun.status, begun.body["state"]], [202, "working"]);
  assert.deepEqual([again.status, again.body["code"]], [409, "module_busy"]);
  assert.equal(wrong.status, 422);
  assert.equal((wrong.body["errors"] as { pointer: string }[])[0]?.pointer, "/answer/address");
  assert.equal(right.status, 200);
  assert.equal(ended.body["state"], "done");
  assert.equal(refused.status, 403);
});
