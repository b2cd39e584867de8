import assert from "node:assert/strict";
import { test } from "node:test";
import { packageJson, startModules } from "../../helpers/module.ts";
import { until } from "../../helpers/until.ts";

const START = `
import { setTimeout } from "node:timers/promises";
import { definePlugin } from "@mantel/plugin-sdk";
export default definePlugin({ start: ({ home }) => setTimeout(100, home.locale) });
`;

const plugins = Object.fromEntries(
  ["one", "two", "three"].map((id) => [id, { "package.json": packageJson(id), "index.ts": START }]),
);

test("modules affected by a home setting are reloaded one after another", async (t) => {
  const { bus, config, once } = await startModules(t, plugins);
  const reloading = new Set<string>();
  let atOnce = 0;
  bus.on(({ topic, data }) => {
    if (topic !== "module.state") return;
    const { id, state } = data.module;
    if (state === "reloading") reloading.add(id);
    else reloading.delete(id);
    atOnce = Math.max(atOnce, reloading.size);
  });

  await config.patch({ ui: { locale: "de-DE" } }, { admin: true });
  for (const id of Object.keys(plugins)) {
    await once(id, ({ lastReload }) => lastReload?.trigger === "config");
  }

  assert.equal(atOnce, 1);
});

test("modules still waiting when the host stops are not reloaded", async (t) => {
  const { config, registry, stop } = await startModules(t, plugins);
  await config.patch({ ui: { locale: "de-DE" } }, { admin: true });
  await until(() => registry.list().some(({ state }) => state === "reloading"));

  await stop(); // fails when a process is left

  assert.equal(registry.list().filter(({ lastReload }) => lastReload !== null).length, 1);
});
