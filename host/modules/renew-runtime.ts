import type { HostLog } from "../log.ts";
import { compileRuntime } from "./code/runtime.ts";
import { reloadInTurn } from "./in-turn.ts";
import type { Module } from "./module.ts";
import type { Spare } from "./process/spare.ts";

interface RuntimeParts {
  readonly cacheFolder: string;
  readonly spare: Spare;
  readonly log: HostLog;
}

/** Takes over a changed SDK. It concerns every process. */
export async function renewRuntime(
  modules: Iterable<Module>,
  { cacheFolder, spare, log }: RuntimeParts,
): Promise<void> {
  try {
    if (!(await spare.renew(await compileRuntime(cacheFolder)))) return;
    const working = [...modules].filter(({ isWorking }) => isWorking);
    await reloadInTurn(working, "sdk", { spare });
  } catch (error) {
    log.error("the plugin runtime does not compile; the old one goes on", { error });
  }
}
