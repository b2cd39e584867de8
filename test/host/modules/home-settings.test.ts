import assert from "node:assert/strict";
import { test } from "node:test";
import { packageJson, startModules } from "../../helpers/module.ts";

const SETTINGS = `
import { definePlugin } from "@mantel/plugin-sdk";
export default definePlugin({ start: ({ home, status }) => status.degraded(JSON.stringify(home)) });
`;
const meter = {
  "package.json": packageJson("meter", { bridge: { kind: "meter", commandsPerSecond: 1 } }),
  "index.ts": SETTINGS,
};
const clock = { "package.json": packageJson("clock"), "index.ts": SETTINGS };

test("a changed poll interval reaches bridges, and reloads nothing else", async (t) => {
  const { config, once, registry } = await startModules(t, { meter, clock });
  const told = (view: { error: { message: string } | null }) =>
    JSON.parse(view.error?.message ?? "{}") as { pollSeconds?: number };
  assert.equal(told(registry.get("meter")).pollSeconds, 30);

  await config.patch({ devices: { pollSeconds: 7 } }, { admin: true });

  await once("meter", (view) => told(view).pollSeconds === 7);
  assert.equal(registry.get("clock").generation, 1);
});
