import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { FAULTS, faultyPlugin, HEALTHY, idOf } from "../../scripts/faults/kinds.ts";
import { onTestEnd } from "../helpers/on-test-end.ts";
import { startFaultyModules } from "./faulty-modules.ts";

/** Processes that take all the CPU time they get. */
const LOOPS = 4;
/** The time in which no healthy process may end, from when the machine is busy. `npm run bench busy` takes an hour. */
const BUSY_MS = 15_000;
const HANGS = ["endless loop", "blocking execSync", "blocking wait", "blocking read of a pipe"];

test("on a busy machine no healthy process is ended, and those that hang are found", async (t) => {
  const hangs = FAULTS.filter(({ name }) => HANGS.includes(name));
  const healthy = HEALTHY.map((kind) => [idOf(kind), faultyPlugin(idOf(kind), kind, "start")]);
  const { harm, once, causeOfFall, registry } = await startFaultyModules(
    t,
    hangs,
    "call",
    Object.fromEntries(healthy),
  );
  const loops = Array.from({ length: LOOPS }, () =>
    spawn(process.execPath, ["-e", "for (;;);"], { stdio: "ignore" }),
  );
  const busySince = performance.now();
  onTestEnd(t, async () => loops.forEach((loop) => loop.kill("SIGKILL")));

  for (const kind of hangs) {
    await harm(kind);
    await once(idOf(kind), ({ restarts }) => restarts === 1, 60_000);
    assert.match(causeOfFall(idOf(kind)), kind.cause);
  }
  await delay(Math.max(BUSY_MS / 2, busySince + BUSY_MS - performance.now()));

  const restarts = HEALTHY.map((kind) => [kind.name, registry.get(idOf(kind)).restarts]);
  assert.deepEqual(
    restarts,
    HEALTHY.map(({ name }) => [name, 0]),
  );
});
