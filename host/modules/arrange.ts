import { isDeepStrictEqual } from "node:util";
import type { Config } from "../config/schema.ts";
import type { Module } from "./module.ts";
import { limitsIn } from "./view.ts";

/** Keys of the config that every plugin is told. */
const FOR_ALL: ReadonlySet<string> = new Set(["ui.locale", "ui.timeZone"]);

/** Starts that run side by side; more would only make each of them later. */
const STARTS_AT_ONCE = 4;

/**
 * Starts and stops modules until each is as the config and the other modules want it. Stand-ins come
 * last, when it is known which real bridges there are.
 */
export async function arrange(modules: readonly Module[], config: Config): Promise<void> {
  const standIns = modules.filter(({ plugin }) => plugin.manifest.yieldsTo?.bridges === true);
  const others = modules.filter((module) => !standIns.includes(module));
  for (const group of [others, standIns]) {
    const reasons = new Map(
      group.map((module) => [module, reasonToRest(module, config, modules)] as const),
    );
    await inPool(group, STARTS_AT_ONCE, (module) => restOne(module, reasons.get(module)));
    const awake = group.filter((module) => reasons.get(module) === undefined);
    await inPool(awake, STARTS_AT_ONCE, wakeOne);
  }
}

/** Whether a module has to start again for these changed keys of the config. */
export function isConcerned(module: Module, changed: readonly string[], config: Config): boolean {
  const { enabled } = config.modules[module.id] ?? {};
  if (module.view.state === "disabled" || enabled === false) return false;
  const concerns = (key: string): boolean =>
    FOR_ALL.has(key) ||
    [module.id, `modules.${module.id}`].includes(key) ||
    key.startsWith(`${module.id}.`);
  const limits = limitsIn(config, module.plugin);
  return !isDeepStrictEqual(limits, module.view.limits) || changed.some(concerns);
}

async function restOne(module: Module, reason: string | undefined): Promise<void> {
  if (reason === undefined) return;
  const { state, error } = module.view;
  if (state !== "disabled" || error?.message !== reason) await module.stop(reason);
}

/** Comes after all rests: what a module was in the way of may start then. */
async function wakeOne(module: Module): Promise<void> {
  if (module.canStart) await module.start();
}

/** Why a module shall not run now, for people; `undefined` when it shall. */
function reasonToRest(
  { id, plugin }: Module,
  config: Config,
  all: readonly Module[],
): string | undefined {
  const enabled = config.modules[id]?.enabled;
  if (enabled === false) return `modules.${id}.enabled is false in the config`;
  if (enabled === true) return undefined;
  const { yieldsTo } = plugin.manifest;
  const key = yieldsTo?.config?.find((each) => isSet(config, each));
  if (key !== undefined) return `it steps aside because ${key} is set`;
  if (!yieldsTo?.bridges) return undefined;
  const other = all.find((each) => each.id !== id && isRealBridge(each));
  return other && `it steps aside because the bridge ${other.id} is configured`;
}

/** A bridge that serves a house, and does not itself step aside for others. */
function isRealBridge({ plugin, status }: Module): boolean {
  const { bridge, yieldsTo } = plugin.manifest;
  if (!bridge || yieldsTo?.bridges) return false;
  return !["disabled", "stopping", "unconfigured", "failed"].includes(status.settledState);
}

function isSet(config: unknown, dottedKey: string): boolean {
  let value: unknown = config;
  for (const key of dottedKey.split(".")) {
    value =
      typeof value === "object" && value !== null
        ? (value as Record<string, unknown>)[key]
        : undefined;
  }
  return value !== undefined && value !== null;
}

/** Does `work` for all items, at most `atOnce` at a time. */
async function inPool<T>(
  items: readonly T[],
  atOnce: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const rest = [...items];
  const worker = async (): Promise<void> => {
    for (let item = rest.shift(); item !== undefined; item = rest.shift()) await work(item);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}
