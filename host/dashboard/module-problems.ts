import type { ModuleView } from "../api/module.ts";
import { words } from "./i18n/problems.ts";

/** A module that is not running, or that runs other code than the code on disk. */
export interface ModuleProblem {
  readonly name: string;
  /** The effect for the user, in a few words. */
  readonly effect: string;
  readonly message: string;
  /** File and line in the author's source, if known. */
  readonly place: string | undefined;
  readonly frame: string | undefined;
}

/** Module problems that the author must fix, by name. */
export function moduleProblems(modules: readonly ModuleView[]): ModuleProblem[] {
  return modules.flatMap((module) => {
    const fault = faultOf(module);
    if (!fault) return [];
    const { message, file, line, frame } = fault;
    const place = file === undefined ? undefined : `${file}:${line ?? 1}`;
    return [{ name: module.name, effect: effectOf(module), message, place, frame }];
  });
}

/**
 * The faults of one module: the reason for its state, and the reason why the code on disk is not
 * running.
 */
export function faultsOf({
  state,
  error,
  lastReload,
}: ModuleView): NonNullable<ModuleView["error"]>[] {
  const ofReload = lastReload?.error;
  const isApart = error === null || state === "degraded"; // otherwise it is the reason why the module is not running
  return [...(error ? [error] : []), ...(ofReload && isApart ? [ofReload] : [])];
}

function faultOf({ state, error, lastReload }: ModuleView): ModuleView["error"] | undefined {
  if (state === "failed" || state === "quarantined") return error;
  if (state === "unconfigured") return undefined; // waiting for setup is not a fault
  if (lastReload?.trigger === "rollback") return undefined; // the user who requested the reload has already seen the result
  return lastReload?.error;
}

function effectOf({ state, lastReload }: ModuleView): string {
  if (state === "quarantined") return words.value.stoppedAfterCrashes;
  if (state === "failed") return words.value.notRunning;
  if (lastReload?.trigger === "config") return words.value.runsPreviousSettings;
  return words.value.runsPreviousVersion;
}
