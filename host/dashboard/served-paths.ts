import type { Store } from "./store.ts";

/** True if a plugin of this home serves a path of the API, such as `/logbook`. Read it while drawing. */
export function isServed(store: Pick<Store, "modules">, path: string): boolean {
  return store.modules().value.some(({ permissions }) => permissions.paths.includes(path));
}
