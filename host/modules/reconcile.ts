import { isDeepStrictEqual } from "node:util";
import { isSet } from "../config/is-set.ts";
import type { Config } from "../config/schema.ts";
import type { Module } from "./lifecycle/module.ts";
import { configuredLimits } from "./manifest/limits.ts";

/** Keys of the config that every plugin is told. */
const FOR_ALL: ReadonlySet<string> = new Set(["ui.locale", "ui.timeZone"]);
/** Keys of the config that only bridges are told. */
const FOR_BRIDGES: ReadonlySet<string> = new Set(["devices.pollSeconds"]);

/** Starts that run at the same time; more would only delay each other. */
const STARTS_AT_ONCE = 4;

/**
 * Starts and stops modules until each is as the config and the other modules require. Fallback modules come
 * last, when the real bridges are known.
 */
export async function reconcile(modules: readonly Module[], config: Config): Promise<void> {
  const fallbacks = modules.filter(({ plugin }) => plugin.manifest.fallbackFor?.bridges === true);
  const others = modules.filter((module) => !fallbacks.includes(module));
  for (const group of [others, fallbacks]) {
    const reasons = new Map(
      group.map((module) => [module, reasonToStop(module, config, modules)] as const),
    );
    await inPool(group, STARTS_AT_ONCE, (module) => stopOne(module, reasons.get(module)));
    const toStart = group.filter((module) => reasons.get(module) === undefined);
    await inPool(toStart, STARTS_AT_ONCE, startOne);
  }
}

/** True if a module has to start again for these changed keys of the config. */
export function isAffected(module: Module, changed: readonly string[], config: Config): boolean {
  const { enabled } = config.modules[module.id] ?? {};
  if (module.view.state === "disabled" || enabled === false) return false;
  const { home } = module.plugin.manifest.permissions ?? {};
  const usesPlace = home?.read?.includes("location") === true;
  const concerns = (key: string): boolean =>
    (usesPlace && key.startsWith("home.")) ||
    [module.id, `modules.${module.id}`].includes(key) ||
    key.startsWith(`${module.id}.`);
  const limits = configuredLimits(config, module.plugin);
  return !isDeepStrictEqual(limits, module.view.limits) || changed.some(concerns);
}

/** True if a module has to be told these changed keys of the config. */
export function isTold({ plugin }: Module, changed: readonly string[]): boolean {
  const isBridge = plugin.manifest.bridge !== undefined;
  return changed.some((key) => FOR_ALL.has(key) || (isBridge && FOR_BRIDGES.has(key)));
}

async function stopOne(module: Module, reason: string | undefined): Promise<void> {
  if (reason === undefined) return;
  const { state, error } = module.view;
  if (state !== "disabled" || error?.message !== reason) await module.stop(reason);
}

/** Starts one module, after all stops: a stopped module may have kept it from starting. */
async function startOne(module: Module): Promise<void> {
  if (module.canStart) await module.start();
}

/** The user-facing reason why a module must not run now; `undefined` if it may. */
function reasonToStop(
  { id, plugin }: Module,
  config: Config,
  all: readonly Module[],
): string | undefined {
  const enabled = config.modules[id]?.enabled;
  if (enabled === false) return `modules.${id}.enabled is false in the config`;
  if (enabled === true) return undefined;
  const { fallbackFor } = plugin.manifest;
  const key = fallbackFor?.config?.find((each) => isSet(config, each));
  if (key !== undefined) return `it is not needed because ${key} is set`;
  if (!fallbackFor?.bridges) return undefined;
  const other = all.find(isRealBridge);
  return other && `it is not needed because the bridge ${other.id} runs`;
}

/** A bridge with real devices that has started: one that is not itself a fallback. */
function isRealBridge({ plugin, status }: Module): boolean {
  const { bridge, fallbackFor } = plugin.manifest;
  return bridge !== undefined && !fallbackFor?.bridges && status.hasStarted;
}

/** Runs `work` for all items, at most `atOnce` at a time. */
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
