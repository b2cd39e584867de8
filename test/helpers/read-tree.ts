import { readdir, readFile, readlink } from "node:fs/promises";
import { join } from "node:path";

/** All below a folder by path, as text: contents of files, and where links lead. Links are not followed. */
export async function readTree(folder: string): Promise<Record<string, string>> {
  const tree: Record<string, string> = {};
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) {
      for (const [name, text] of Object.entries(await readTree(path)))
        tree[join(entry.name, name)] = text;
    } else if (entry.isSymbolicLink()) tree[entry.name] = `-> ${await readlink(path)}`;
    else if (entry.isFile()) tree[entry.name] = await readFile(path, "latin1");
  }
  return Object.fromEntries(Object.entries(tree).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
