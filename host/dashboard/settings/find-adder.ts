import type { ModuleView } from "../../api/module.ts";

/** The option of a module to which users add things of a kind. */
export interface Adder {
  readonly module: string;
  readonly config: `/modules/${string}/config`;
  readonly option: string;
}

/** The first module to whose options users add things of a kind, such as `calendar`. */
export function findAdder(modules: readonly ModuleView[], kind: string): Adder | undefined {
  for (const { id, adds, state } of modules) {
    const option = Object.hasOwn(adds, kind) ? adds[kind] : undefined;
    if (option === undefined || state === "disabled") continue;
    return { module: id, config: `/modules/${encodeURIComponent(id)}/config`, option };
  }
  return undefined;
}
