import assert from "node:assert/strict";
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import {
  SavedAutomations,
  writeCountingBridge,
} from "../../scripts/bench/shared/saved-automations.ts";
import { startHost } from "../helpers/host.ts";
import { until } from "../helpers/until.ts";

const FILES = 40;
const SAVES = 80;
const WAIT_MS = 15_000;
/** Between two saves, so that changes are counted before and after each. */
const PAUSE_MS = 50;

test("while files of automations are saved, no change is missed or handled twice, and all waits end", async (t) => {
  const host = await startHost(t, { plugins: ["plugins/automations"] });
  const write = async (file: string, text: string) => {
    const path = join(host.plugins, file);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text);
  };
  await writeCountingBridge(write, FILES);
  const request = async (method: string, path: string, json?: object): Promise<unknown> => {
    const answer = await host.api(path, { method, ...(json && { json }) });
    assert.ok(answer.ok, `${method} ${path}: ${answer.status}`);
    return answer.json();
  };
  const folder = join(host.data, "automations");
  const saved = new SavedAutomations({ files: FILES, waitMs: WAIT_MS, folder, request });
  await saved.open();

  await saved.beginWaits();
  await saved.begin(200);
  for (let save = 0; save < SAVES; save++) {
    await saved.save();
    await delay(PAUSE_MS);
  }
  const { sent, missed, doubled } = await saved.end();
  const waits = await until(async () => {
    const ended = await saved.waits();
    return ended.length === FILES ? ended : undefined;
  });

  assert.ok(sent > SAVES, `${sent} changes`);
  assert.deepEqual({ missed, doubled }, { missed: 0, doubled: 0 });
  assert.deepEqual(
    waits.filter((ms) => ms < WAIT_MS),
    [],
  );
});
