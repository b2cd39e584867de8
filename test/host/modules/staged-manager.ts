import { mkdtempSync, rmSync } from "node:fs";
import { cp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { Bus } from "../../../host/events/bus.ts";
import { compileRuntime } from "../../../host/modules/build/runtime.ts";
import { ModuleManager } from "../../../host/modules/manager.ts";
import { BridgeTable } from "../../../host/modules/module-bridge.ts";
import type { ModuleTableDependencies } from "../../../host/modules/module-table.ts";
import { onTestEnd } from "../../helpers/on-test-end.ts";
import { manifest, stageModules } from "../../helpers/stage-modules.ts";
import { answering } from "./staged-lamp.ts";

/** The compiled runtime, which each test copies into its cache; kept for all test files of the process. */
const compiled = mkdtempSync(join(tmpdir(), "mantel-test-runtime-"));
const hasCompiled = compileRuntime(compiled);
process.once("exit", () => rmSync(compiled, { recursive: true }));

export type Plugins = Readonly<Record<string, Readonly<Record<string, string>>>>;
/** A plugin that answers with its id. */
export const plugin = (id: string, mantel: object = {}, source = answering(id)) => ({
  [id]: { "package.json": manifest(id, mantel), "index.ts": source, "widget.ts": "first" },
});

/** All modules of a home, with processes that are none. */
export async function openManager(t: TestContext, plugins: Plugins = {}, given?: { home: string }) {
  const stage = await stageModules(t, given);
  await hasCompiled;
  await cp(compiled, stage.cacheFolder, { recursive: true, preserveTimestamps: true });
  for (const [id, files] of Object.entries(plugins)) {
    for (const [file, text] of Object.entries(files)) await stage.write(`${id}/${file}`, text);
  }
  const bus = new Bus();
  const removed: string[] = [];
  const revisions: number[] = [];
  bus.on(({ topic, data }) => {
    if (topic === "module.removed") removed.push(data.id);
    if (topic !== "module.log") revisions.push(manager.revision);
  });
  const bridges = new BridgeTable();
  const parts = {
    ...stage.parts,
    bus,
    bridges,
    log: stage.hostLog,
    roots: [stage.root],
    packageFolders: () => [],
    isShippedId: () => false,
  } as unknown as ModuleTableDependencies;
  const manager = new ModuleManager(parts);
  onTestEnd(t, () => manager.close());
  return { ...stage, bridges, removed, revisions, manager };
}

export const states = (manager: ModuleManager) =>
  manager.list().map(({ id, state }) => `${id} ${state}`);
