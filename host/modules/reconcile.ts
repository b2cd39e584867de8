import { isDeepStrictEqual } from "node:util";
import { Semaphore } from "@mantel/plugin-sdk/semaphore";
import { isSet } from "../config/is-set.ts";
import type { Config } from "../config/schema.ts";
import type { Module } from "./lifecycle/module.ts";
import { configuredLimits } from "./manifest/limits.ts";

/** Keys of the config that every plugin is told. */
const FOR_ALL: ReadonlySet<string> = new Set(["ui.locale", "ui.timeZone"]);
/** Keys of the config that only bridges are told. */
const FOR_BRIDGES: ReadonlySet<string> = new Set(["devices.pollSeconds"]);

/** Starts of code that run at the same time; more would only delay each other. */
const STARTS_AT_ONCE = 4;

/**
 * Starts and stops modules until each is as the config and the other modules require. Fallbacks for bridges follow
 * when all bridges have started or failed; nothing else waits for another module.
 */
export async function reconcile(modules: readonly Module[], config: Config): Promise<void> {
  const fallbacks = modules.filter(({ plugin }) => plugin.manifest.fallbackFor?.bridges === true);
  const others = modules.filter((module) => !fallbacks.includes(module));
  const stop = async (group: readonly Module[]): Promise<Module[]> => {
    const reasons = group.map((module) => reasonToStop(module, config, modules));
    await Promise.all(group.map((module, at) => stopOne(module, reasons[at])));
    return group.filter((_module, at) => reasons[at] === undefined);
  };
  const toStart = await stop(others);
  const bridges = toStart.filter(({ plugin }) => plugin.manifest.bridge !== undefined);
  const start = inTurns();
  const known = Promise.all(bridges.map(start));
  const rest = toStart.filter((module) => !bridges.includes(module)).map(start);
  const following = known.then(async () => Promise.all((await stop(fallbacks)).map(start)));
  await Promise.all([following, ...rest]);
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

/**
 * Starts modules in the order of the calls, after all stops: a stopped module may have kept one from starting. Code
 * starts in processes; widgets need the host alone, one after the other.
 */
function inTurns(): (module: Module) => Promise<void> {
  const [code, widgets] = [new Semaphore(STARTS_AT_ONCE), new Semaphore(1)];
  return async (module) => {
    const turns = module.plugin.manifest.server === undefined ? widgets : code;
    await turns.take();
    try {
      if (module.canStart) await module.start();
    } finally {
      turns.giveBack();
    }
  };
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
