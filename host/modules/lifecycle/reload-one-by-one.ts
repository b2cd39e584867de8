import type { ReloadResult } from "../../api/module.ts";
import type { HostLog } from "../../log.ts";
import { compileRuntime } from "../build/runtime.ts";
import type { WarmProcessPool } from "../process/warm-process.ts";
import type { ReloadTrigger } from "../state/reload-result.ts";
import type { Module } from "./module.ts";

/**
 * Reloads all affected modules one after the other: simultaneous reloads would compete for the CPU and keep
 * each other's callers waiting. The last one starts the next warm process.
 */
export async function reloadOneByOne(
  modules: Iterable<Module>,
  trigger: ReloadTrigger,
  { warmProcesses }: { readonly warmProcesses: WarmProcessPool },
): Promise<void> {
  await warmProcesses.whileReloading(async () => {
    for (const module of modules) await ignoreFailure(module.reload(trigger));
  });
}

/** Ignores a failed reload, because its module reports it: in the list, the log and the event stream. */
export async function ignoreFailure(reload: Promise<ReloadResult>): Promise<void> {
  await reload.catch(() => undefined);
}

interface RuntimeDependencies {
  readonly cacheFolder: string;
  readonly warmProcesses: WarmProcessPool;
  readonly log: HostLog;
}

/** Recompiles the runtime after a change of the SDK. It affects every process. */
export async function renewRuntime(
  modules: Iterable<Module>,
  { cacheFolder, warmProcesses, log }: RuntimeDependencies,
): Promise<void> {
  try {
    if (!(await warmProcesses.renew(await compileRuntime(cacheFolder)))) return;
    const working = [...modules].filter(({ isWorking }) => isWorking);
    await reloadOneByOne(working, "sdk", { warmProcesses });
  } catch (error) {
    log.error("the plugin runtime does not compile; the old one continues", { error });
  }
}
