import { readFile, realpath } from "node:fs/promises";
import { join } from "node:path";
import { Type } from "typebox";
import { check } from "../../validate.ts";
import { parseJson, type PluginPackage } from "./manifest.ts";

const LIST = "shipped.json";
const Ids = Type.Array(Type.String());

/**
 * Reads the list of plugins that ship with Mantel, and returns a test for them: a shipped plugin has a listed id
 * and runs from the folder of that name beside the list. A plugin with a listed id elsewhere does not ship, nor
 * does another folder there. Without a list nothing ships.
 * @throws MantelError `invalid` if the list is damaged
 */
export async function readShipped(
  folder: string,
): Promise<(plugin: Pick<PluginPackage, "id" | "folder">) => boolean> {
  const file = join(folder, LIST);
  const list = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT") throw error;
  });
  if (list === undefined) return () => false;
  const ids = new Set(check(Ids, parseJson(list, file), file));
  const root = await realpath(folder);
  return (plugin) => ids.has(plugin.id) && plugin.folder === join(root, plugin.id);
}
