import assert from "node:assert/strict";
import { test } from "node:test";
import { holdSlowly } from "../../scripts/attack/slow-clients.ts";
import { startHost } from "../helpers/host.ts";

test("a thousand stalled streams and 500 slow clients affect no other client and use little memory", async (t) => {
  const host = await startHost(t, { plugins: [] });
  const target = { url: host.url, token: await host.token("admin"), pid: host.pid };

  const count = await holdSlowly(target, { streams: 1_000, senders: 500, seconds: 5 });

  t.diagnostic(JSON.stringify(count));
  assert.equal(count.cutEarly, 0);
  assert.ok(count.asked > 50);
  assert.equal(count.failed, 0);
  assert.ok(count.grownMiB <= 64, `the host has grown by ${count.grownMiB} MiB`);
});
