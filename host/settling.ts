import type { HostLog } from "./log.ts";
import type { ModuleRegistry } from "./modules/registry.ts";

const TELL_EVERY_MS = 3_000;

/** A start that takes long says what for. */
export function tellOfWaiting(settled: Promise<void>, modules: ModuleRegistry, log: HostLog): void {
  const ticking = setInterval(() => {
    const loading = modules.list().filter(({ state }) => state === "loading");
    log.info("the start waits for modules", { modules: loading.map(({ id }) => id) });
  }, TELL_EVERY_MS);
  const stop = () => clearInterval(ticking);
  void settled.then(stop, stop);
}
