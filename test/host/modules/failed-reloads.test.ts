import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { queryObjects } from "node:v8";
import type { ModuleView } from "../../../host/api/module.ts";
import { packageJson, startModules } from "../../helpers/module.ts";
import { until } from "../../helpers/until.ts";

const SETS = 2;
const ROUNDS = 6;
const COUNTS = 2;
const COUNT_MS = 100;
const SOUND = `
import { definePlugin } from "@mantel/plugin-sdk";
export default definePlugin({ start: () => ({}) });
`;
const throwing = (round: number): string =>
  SOUND.replace("({})", `{ throw new Error("round ${round}"); }`);

test("rollbacks leave no resources in the host while the old process continues", async (t) => {
  const { registry, write } = await startModules(t, {
    patient: { "package.json": packageJson("patient"), "index.ts": SOUND },
  });
  const fail = async (round: number): Promise<void> => {
    await write("patient/index.ts", throwing(round));
    await assert.rejects(registry.reload("patient"), { code: "reload_failed" });
  };
  for (let round = 0; round < 2; round++) await fail(round);
  const growths: number[] = [];
  for (let set = 0, before = await countFunctions(); set < SETS; set++) {
    for (let round = 0; round < ROUNDS; round++) await fail(round);
    const now = await countFunctions();
    growths.push(now - before);
    before = now;
  }

  // A leak grows each time; a warm process that is there only at the second count does not.
  assert.ok(Math.min(...growths) < ROUNDS / 2, growths.join(", "));
});

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

/**
 * Each listener that is left behind holds on to a function. The lowest of several counts: timers and
 * the start of a warm process come and go.
 */
async function countFunctions(): Promise<number> {
  const counts: number[] = [];
  for (let left = COUNTS; left > 0; left--) {
    counts.push(queryObjects(Function, { format: "count" }));
    await delay(COUNT_MS);
  }
  return Math.min(...counts);
}
