import type { ModuleView } from "../modules/view.ts";
import { words } from "./words/shell.ts";

/** A module whose code on the disk is not what runs, or that does not run at all. */
export interface Trouble {
  readonly name: string;
  /** What that means for the house, in a few words. */
  readonly effect: string;
  readonly message: string;
  /** File and line of the author's source, when the fault has a place. */
  readonly place: string | undefined;
  readonly frame: string | undefined;
}

/** What an author has to mend, by name. */
export function troublesOf(modules: readonly ModuleView[]): Trouble[] {
  return modules.flatMap((module) => {
    const fault = faultOf(module);
    if (!fault) return [];
    const { message, file, line, frame } = fault;
    const place = file === undefined ? undefined : `${file}:${line ?? 1}`;
    return [{ name: module.name, effect: effectOf(module), message, place, frame }];
  });
}

/** What is to be said of one module: why it is as it is, and why the code on the disk is not what runs. */
export function faultsOf({
  state,
  error,
  lastReload,
}: ModuleView): NonNullable<ModuleView["error"]>[] {
  const ofReload = lastReload?.error;
  const isApart = error === null || state === "degraded"; // else it is why the module does not run
  return [...(error ? [error] : []), ...(ofReload && isApart ? [ofReload] : [])];
}

function faultOf({ state, error, lastReload }: ModuleView): ModuleView["error"] | undefined {
  if (state === "failed" || state === "quarantined") return error;
  if (state === "unconfigured") return undefined; // it waits to be set up, and nothing is broken
  if (lastReload?.trigger === "rollback") return undefined; // whoever asked for it has the answer
  return lastReload?.error;
}

function effectOf({ state, lastReload }: ModuleView): string {
  if (state === "quarantined") return words.value.restsAfterCrashes;
  if (state === "failed") return words.value.doesNotRun;
  if (lastReload?.trigger === "config") return words.value.runsSettingsBefore;
  return words.value.runsCodeBefore;
}
