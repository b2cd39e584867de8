import type { HostLog } from "./log.ts";
import type { ModuleManager } from "./modules/manager.ts";

const TELL_EVERY_MS = 3_000;

/** Logs which modules a slow start waits for. */
export function logWaitingModules(
  settled: Promise<void>,
  modules: ModuleManager,
  log: HostLog,
): void {
  const ticking = setInterval(() => {
    const loading = modules.list().filter(({ state }) => state === "loading");
    log.info("the start is waiting for modules", { modules: loading.map(({ id }) => id) });
  }, TELL_EVERY_MS);
  const stop = () => clearInterval(ticking);
  void settled.then(stop, stop);
}
