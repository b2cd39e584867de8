import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { Recorder } from "../../plugins/recorder/recorder.ts";
import { SqliteStorage } from "../../plugins/recorder/sqlite.ts";
import { emptyFolder } from "../helpers/folder.ts";
import { bundledProgram } from "../helpers/script.ts";

const KILLS = 100;
const PROGRAM = "test/helpers/recorder-program.ts";
const RAW_DAYS = 10;
const MINUTES_A_DAY = 24 * 60;
const START = Date.parse("2026-11-01T00:00:00Z");

test(`a recorder that is killed at any moment keeps every stored report (${KILLS} times)`, async (t) => {
  const file = join(await emptyFolder(t), "history.sqlite");
  const program = await bundledProgram(PROGRAM);
  let stored = 0;

  for (let kill = 0; kill < KILLS; kill++) {
    const child = spawn(process.execPath, [program, file], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const lines = createInterface({ input: child.stdout });
    lines.on("line", (line) => (stored = Math.max(stored, Number(line) || 0)));
    await once(lines, "line");
    await delay((kill % 10) * 7);
    child.kill("SIGKILL");
    await once(child, "close");
  }

  const told: string[] = [];
  const retention = { rawDays: RAW_DAYS, logbookDays: 90, maxBytes: 2 ** 30, exceptions: {} };
  const notices = {
    warn: (sentence: string) => void told.push(sentence),
    degraded: () => undefined,
  };
  const recorder = new Recorder(() => SqliteStorage.open(file), retention, notices);
  t.after(() => recorder.close());
  await recorder.open();
  const to = START + (stored + 1) * 60_000;
  const points = await recorder.raw({ series: 1, from: START, to, limit: 10 ** 7 });

  assert.ok(stored > KILLS, `${stored} reports were stored`);
  assert.deepEqual(told, []);
  // A quick machine gets past the days that are kept: then only reports that are older are gone.
  const oldest = points[0]?.value ?? Number.NaN;
  assert.ok(
    oldest <= Math.max(1, stored - RAW_DAYS * MINUTES_A_DAY),
    `${oldest} is the oldest of ${stored} reports`,
  );
  assert.deepEqual(
    points.map(({ value }) => value),
    Array.from({ length: stored - oldest + 1 }, (_, index) => oldest + index),
  );
});
