import assert from "node:assert/strict";
import { test } from "node:test";
import type { ModuleView } from "../../../host/api/module.ts";
import { packageJson, startModules } from "../../helpers/module.ts";

const READS = `
import { definePlugin } from "@mantel/plugin-sdk";
export default definePlugin({ start: ({ home, status }) => status.degraded(JSON.stringify(home)) });
`;
const FOLLOWS = `
import { definePlugin } from "@mantel/plugin-sdk";
export default definePlugin({
  start({ home, status }) {
    const show = () => status.degraded(home.locale + " " + home.timeZone);
    home.on("locale", show);
    show();
  },
});
`;
const IGNORES = `
import { definePlugin } from "@mantel/plugin-sdk";
export default definePlugin({ start: () => undefined });
`;

const plugin = (id: string, source: string, manifest = {}) => ({
  "package.json": packageJson(id, manifest),
  "index.ts": source,
});
const bridge = (kind: string) => ({ bridge: { kind, commandsPerSecond: 1 } });

test("settings of the home", async (t) => {
  const { config, once, registry } = await startModules(t, {
    meter: plugin("meter", READS, bridge("meter")),
    clock: plugin("clock", READS),
    sign: plugin("sign", FOLLOWS),
    lamp: plugin("lamp", IGNORES),
  });
  const told = (view: ModuleView) =>
    JSON.parse(view.error?.message ?? "{}") as { pollSeconds?: number; locale?: string };
  const generations = () =>
    Object.fromEntries(registry.list().map(({ id, generation }) => [id, generation]));

  await t.test("a changed poll interval reaches bridges, and reloads nothing else", async () => {
    assert.equal(told(registry.get("meter")).pollSeconds, 30);

    await config.patch({ devices: { pollSeconds: 7 } }, { admin: true });

    await once("meter", (view) => told(view).pollSeconds === 7);
    assert.deepEqual(generations(), { meter: 2, clock: 1, sign: 1, lamp: 1 });
  });

  await t.test(
    "another language is told to modules that follow it, and reloads those that only read it",
    async () => {
      await config.patch({ ui: { locale: "de-DE" } }, { admin: true });

      await once("sign", ({ error }) => error?.message.startsWith("de-DE ") === true);
      for (const id of ["meter", "clock"]) await once(id, (view) => told(view).locale === "de-DE");
      assert.deepEqual(generations(), { meter: 3, clock: 2, sign: 1, lamp: 1 });
    },
  );

  await t.test(
    "a setting that a module reads without following it reloads the module",
    async () => {
      await config.patch({ ui: { timeZone: "Asia/Tokyo" } }, { admin: true });

      await once("sign", ({ error }) => error?.message === "de-DE Asia/Tokyo");
      assert.equal(registry.get("sign").generation, 2);
      assert.equal(registry.get("lamp").generation, 1);
    },
  );
});

test("the demo devices stay while the config of a bridge that is not set up changes", async (t) => {
  const { bus, config, once } = await startModules(t, {
    demo: plugin("demo", IGNORES, { ...bridge("demo"), fallbackFor: { bridges: true } }),
    hue: plugin("hue", IGNORES, { ...bridge("hue"), requiresConfig: true }),
  });
  await once("demo", ({ state }) => state === "active");
  await once("hue", ({ state }) => state === "unconfigured");
  const seen: string[] = [];
  bus.on(({ topic, data }) => {
    if (topic === "module.state") seen.push(`${data.module.id} ${data.module.state}`);
  });

  await config.patch({ modules: { hue: { limits: { memoryMiB: 100 } } } }, { admin: true });
  await once("hue", ({ state, limits }) => state === "unconfigured" && limits.memoryMiB === 100);
  await config.patch({ modules: { hue: { enabled: true } } }, { admin: true });
  await once("demo", ({ state }) => state === "disabled");

  const isActive = seen.indexOf("hue active");
  assert.ok(isActive >= 0 && isActive < seen.indexOf("demo stopping"), seen.join(", "));
});
