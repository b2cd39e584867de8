import assert from "node:assert/strict";
import { test } from "node:test";
import { packageJson, startModules } from "../../helpers/module.ts";
import { until } from "../../helpers/until.ts";

const RING = `
import { definePlugin, defineService, provide, Type } from "@mantel/plugin-sdk";
const ring = defineService("acme.chime.ring", {
  providers: "many",
  input: Type.Object({}),
  output: Type.Array(Type.String()),
});`;
const chime = (id: string, manifest: object = { shares: ["acme.chime.ring"] }) => ({
  "package.json": packageJson(id, { provides: ["acme.chime.ring"], ...manifest }),
  "index.ts": `${RING}
export default definePlugin({ start: () => ({ services: [provide(ring, () => ["${id}"])] }) });`,
});
const caller = {
  "package.json": packageJson("caller", { uses: ["acme.chime.ring"] }),
  "index.ts": `${RING}
export default definePlugin({
  start(ctx) {
    const timer = setInterval(async () => {
      ctx.log.info("rang", { chimes: (await ctx.call(ring, {})).toSorted().join() });
    }, 20);
    ctx.onDispose(() => clearInterval(timer));
  },
});`,
};

test("a call of a plugin reaches all providers of a service, also one that comes later or goes", async (t) => {
  const { registry } = await startModules(t, { hall: chime("hall"), door: chime("door"), caller });
  const rang = (chimes: string) =>
    until(() => registry.logs("caller").at(-1)?.fields?.["chimes"] === chimes);

  await rang("door,hall");
  await registry.disable("hall");
  await rang("door");
  await registry.enable("hall");

  await rang("door,hall");
});

test("a plugin that does not say so in its manifest does not start, with the line to add", async (t) => {
  const { registry } = await startModules(t, { hall: chime("hall", {}) });

  const { state, error } = registry.get("hall");

  assert.equal(state, "failed");
  assert.match(error?.message ?? "", /add "acme\.chime\.ring" to "mantel\.shares"/);
});
