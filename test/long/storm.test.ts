import assert from "node:assert/strict";
import { appendFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { startHost } from "../helpers/host.ts";

const REQUESTS = 1_000;
const AT_ONCE = 50;
/** Requests reload unchanged code once within this time. */
const AGAIN_MS = 5_000;

test("a thousand reload requests in a second are two reloads at most", async (t) => {
  const host = await startHost(t, { plugins: ["plugins/demo-home"] });
  const generation = async (): Promise<number> => {
    const module = (await (await host.api("/modules/demo-home")).json()) as { generation: number };
    return module.generation;
  };
  const before = await generation();
  const file = join(host.plugins, "demo-home/index.ts");

  const startedAt = performance.now();
  let left = REQUESTS;
  const statuses = new Set<number>();
  const ask = async (): Promise<void> => {
    while (left-- > 0) {
      const { status } = await host.api("/modules/demo-home/reload", { method: "POST" });
      statuses.add(status);
    }
  };
  const asked = Promise.all(Array.from({ length: AT_ONCE }, ask));
  await appendFile(file, `console.debug("saved");\n`);
  await asked;
  const later = Math.floor((performance.now() - startedAt) / AGAIN_MS);

  assert.deepEqual([...statuses], [200]);
  const reloads = (await generation()) - before;
  t.diagnostic(`${REQUESTS} requests, ${reloads} reloads`);
  assert.ok(reloads >= 1 && reloads <= 2 + later, `${reloads}, ${later} times ${AGAIN_MS} ms`);
});
