import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import type { ReloadResult } from "../../../host/api/module.ts";
import type { Module } from "../../../host/modules/lifecycle/module.ts";
import {
  ignoreFailure,
  reloadOneByOne,
  renewRuntime,
} from "../../../host/modules/lifecycle/reload-one-by-one.ts";
import type { WarmProcessPool } from "../../../host/modules/process/warm-process.ts";
import { collectedLog } from "../../helpers/collected-log.ts";
import { emptyFolder } from "../../helpers/folder.ts";

function stage() {
  const steps: string[] = [];
  const warmProcesses = {
    isNew: true,
    renew: async (_runtime: string) => warmProcesses.isNew,
    whileReloading: async (reload: () => Promise<void>) => {
      steps.push("reloads begin");
      await reload();
      steps.push("reloads end");
    },
  };
  const module = (id: string, isWorking = true, failure?: Error): Module =>
    ({
      isWorking,
      reload: async (trigger: string) => {
        steps.push(`${id} begins by ${trigger}`);
        await Promise.resolve();
        if (failure) throw failure;
        steps.push(`${id} ends`);
      },
    }) as unknown as Module;
  return { steps, module, warmProcesses, pool: warmProcesses as unknown as WarmProcessPool };
}

test("modules are reloaded one after another, also after one that fails", async () => {
  const { steps, module, pool } = stage();
  const modules = [module("one"), module("two", true, new Error("wrong code")), module("three")];

  await reloadOneByOne(modules, "config", { warmProcesses: pool });

  assert.deepEqual(steps, [
    "reloads begin",
    "one begins by config",
    "one ends",
    "two begins by config",
    "three begins by config",
    "three ends",
    "reloads end",
  ]);
});

test("ignoreFailure resolves when the reload failed", async () => {
  const failed = Promise.reject<ReloadResult>(new Error("wrong code"));

  await assert.doesNotReject(ignoreFailure(failed));
});

test("after a change of the runtime the modules that work are reloaded", async (t) => {
  const { steps, module, pool } = stage();
  const cacheFolder = await emptyFolder(t);
  const log = collectedLog();

  await renewRuntime([module("one"), module("down", false)], {
    cacheFolder,
    warmProcesses: pool,
    log,
  });

  assert.deepEqual(steps, ["reloads begin", "one begins by sdk", "one ends", "reloads end"]);
  assert.deepEqual(log.records, []);
});

test("an unchanged runtime reloads nothing", async (t) => {
  const { steps, module, pool, warmProcesses } = stage();
  warmProcesses.isNew = false;

  const parts = { cacheFolder: await emptyFolder(t), warmProcesses: pool, log: collectedLog() };
  await renewRuntime([module("one")], parts);

  assert.deepEqual(steps, []);
});

test("a runtime that cannot be made is logged, and the old one continues", async (t) => {
  const { steps, module, pool } = stage();
  const home = await emptyFolder(t);
  const cacheFolder = join(home, "cache");
  await writeFile(cacheFolder, "not a folder");
  const log = collectedLog();

  await renewRuntime([module("one")], { cacheFolder, warmProcesses: pool, log });

  assert.deepEqual(steps, []);
  const [{ level, sentence, fields } = assert.fail()] = log.records;
  const told = "the plugin runtime does not compile; the old one continues";
  assert.deepEqual([level, sentence], ["error", told]);
  assert.ok(fields["error"] instanceof Error);
});
