import assert from "node:assert/strict";
import { test } from "node:test";
import type { ModuleView } from "../../../host/api/module.ts";
import { packageJson, startModules } from "../../helpers/module.ts";
import { until } from "../../helpers/until.ts";

const SOUND = `
import { definePlugin } from "@mantel/plugin-sdk";
export default definePlugin({ start: () => ({}) });
`;
const throwing = (round: number): string =>
  SOUND.replace("({})", `{ throw new Error("round ${round}"); }`);

test("a failed reload says for how long calls waited: not at all while the code is compiled", async (t) => {
  const { registry, write } = await startModules(t, {
    patient: { "package.json": packageJson("patient"), "index.ts": SOUND },
  });
  const fail = async (code: string) => {
    await write("patient/index.ts", code);
    await assert.rejects(registry.reload("patient"), { code: "reload_failed" });
    const { lastReload } = registry.get("patient");
    return lastReload ?? assert.fail("no reload");
  };

  const slow = "async start() { await new Promise((r) => setTimeout(r, 60)); throw new Error(); }";
  const { downtimeMs, durationMs } = await fail(SOUND.replace("start: () => ({})", slow));
  assert.ok(downtimeMs >= 59 && downtimeMs < durationMs, `${downtimeMs} of ${durationMs} ms`);

  assert.equal((await fail(`${SOUND}const broken = ;`)).downtimeMs, 0);
});

test("an old process that dies just after a rollback is restarted", async (t) => {
  const frail = SOUND.replace(
    "({})",
    "{ if (globalThis.hasStarted) setTimeout(() => process.exit(7), 5); globalThis.hasStarted = true; }",
  );
  const { registry, write, once } = await startModules(t, {
    frail: { "package.json": packageJson("frail"), "index.ts": frail },
  });

  await write("frail/index.ts", throwing(1));
  await assert.rejects(registry.reload("frail"), { code: "reload_failed" });

  const view = await once("frail", ({ restarts }: ModuleView) => restarts === 1);
  assert.match(view.error?.message ?? "", /exited with code 7/);
  await once("frail", ({ state }) => state === "active", 10_000);
});

test("a manifest that breaks during a reload is the reported fault", async (t) => {
  const { registry, write, once } = await startModules(t, {
    torn: { "package.json": packageJson("torn"), "index.ts": SOUND },
  });
  await write("torn/index.ts", SOUND.replace("({})", "new Promise(() => {})"));
  await once("torn", ({ state }) => state === "reloading");

  await write("torn/package.json", packageJson("torn", { wrong: true }));
  await until(() => JSON.stringify(registry.logs("torn")).includes("start timed out after"));
  const view = await once(
    "torn",
    ({ lastReload }) => lastReload?.error?.message.includes("/mantel/wrong") === true,
  );

  assert.equal(view.state, "active");
  assert.equal(view.lastReload?.result, "rolled_back");
});
