import type { Module } from "./module.ts";
import type { Spare } from "./process/spare.ts";
import type { ReloadTrigger } from "./receipt.ts";
import type { ReloadReceipt } from "./view.ts";

/**
 * Reloads all that one change concerns, one after the other: at the same time they would keep each other's
 * callers waiting for the processor. The last one has the next spare started.
 */
export async function reloadInTurn(
  modules: Iterable<Module>,
  trigger: ReloadTrigger,
  { spare }: { readonly spare: Spare },
): Promise<void> {
  await spare.whileReloading(async () => {
    for (const module of modules) await quietly(module.reload(trigger));
  });
}

/** A failed reload is told by its module: in the list, the log and the event stream. */
export async function quietly(reload: Promise<ReloadReceipt>): Promise<void> {
  await reload.catch(() => undefined);
}
