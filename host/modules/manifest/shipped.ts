import { readFile, realpath } from "node:fs/promises";
import { join } from "node:path";
import { Type } from "typebox";
import { check } from "../../validate.ts";
import { parseJson, type PluginPackage } from "./manifest.ts";

const LIST = "shipped.json";
const Ids = Type.Array(Type.String());

/** Tests for plugins that ship with Mantel. */
export interface Shipped {
  /** True for a listed id that runs from the folder of that name beside the list. */
  readonly isShipped: (plugin: Pick<PluginPackage, "id" | "folder">) => boolean;
  /** True for a listed id, wherever it runs from. */
  readonly isShippedId: (id: string) => boolean;
}

/**
 * Reads the list of plugins that ship with Mantel, and returns tests for them. A plugin with a listed id elsewhere
 * does not ship, nor does another folder there. Without a list nothing ships.
 * @throws MantelError `invalid` if the list is damaged
 */
export async function readShipped(folder: string): Promise<Shipped> {
  const file = join(folder, LIST);
  const list = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT") throw error;
  });
  if (list === undefined) return { isShipped: () => false, isShippedId: () => false };
  const ids = new Set(check(Ids, parseJson(list, file), file));
  const root = await realpath(folder);
  return {
    isShipped: (plugin) => ids.has(plugin.id) && plugin.folder === join(root, plugin.id),
    isShippedId: (id) => ids.has(id),
  };
}
