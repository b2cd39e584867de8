import assert from "node:assert/strict";
import { test } from "node:test";
import { ThroughputLimit } from "../../../../host/modules/process/network/throughput-limit.ts";

const CHUNK = 65_536;
const MIB = 2 ** 20;

test("the throughput of a process is limited, and its connections share it", (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  let now = 0;
  t.mock.method(performance, "now", () => now);
  const throughput = new ThroughputLimit(100 * MIB);
  const moved = [0, 0, 0];
  // Each sends all the time, the first one more eagerly than the host should let it.
  const send = (who: number): void => {
    moved[who] = (moved[who] ?? 0) + CHUNK;
    if (throughput.spend(CHUNK)) send(who);
    else throughput.waitForTurn(() => send(who));
  };

  moved.forEach((_, who) => send(who));
  for (; now < 1_000; now += 5) t.mock.timers.tick(5);

  const total = moved.reduce((sum, bytes) => sum + bytes, 0) / MIB;
  assert.ok(total > 95 && total < 103, `${total} MiB in a second`);
  for (const bytes of moved) assert.ok(bytes > (total / 4) * MIB, moved.join());
  throughput.close();
});

test("many small chunks count with their processing time", (t) => {
  let now = 0;
  t.mock.method(performance, "now", () => now);
  const throughput = new ThroughputLimit(100 * MIB);
  let chunks = 0;

  for (; now < 1_000; now += 5) while (throughput.spend(1)) chunks++;

  assert.ok(chunks > 10_000 && chunks < 14_000, `${chunks} chunks in a second`);
});
