import { lstat, readdir, readFile, readlink } from "node:fs/promises";
import { join } from "node:path";

/** All below a folder by path, as text: contents of files, and where links lead. */
export async function readTree(folder: string): Promise<Record<string, string>> {
  const tree: Record<string, string> = {};
  for (const path of (await readdir(folder, { recursive: true })).toSorted()) {
    const found = await lstat(join(folder, path));
    if (found.isSymbolicLink()) tree[path] = `-> ${await readlink(join(folder, path))}`;
    else if (found.isFile()) tree[path] = await readFile(join(folder, path), "latin1");
  }
  return tree;
}
