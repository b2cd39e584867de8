import type { HostLog } from "../log.ts";
import { compileRuntime } from "./code/runtime.ts";
import type { Module } from "./module.ts";
import type { Spare } from "./process/spare.ts";
import type { ReloadReceipt } from "./view.ts";

interface RuntimeParts {
  readonly cacheFolder: string;
  readonly spare: Spare;
  readonly log: HostLog;
}

/** Takes over a changed SDK. It concerns every process: they follow one after the other. */
export async function renewRuntime(
  modules: Iterable<Module>,
  { cacheFolder, spare, log }: RuntimeParts,
): Promise<void> {
  try {
    if (!(await spare.renew(await compileRuntime(cacheFolder)))) return;
    for (const module of modules) {
      if (module.isWorking) await quietly(module.reload("sdk"));
    }
  } catch (error) {
    log.error("the plugin runtime does not compile; the old one goes on", { error });
  }
}

/** A failed reload is told by its module: in the list, the log and the event stream. */
export async function quietly(reload: Promise<ReloadReceipt>): Promise<void> {
  await reload.catch(() => undefined);
}
