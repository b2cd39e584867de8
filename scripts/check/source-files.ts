import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

/** The folders with code; documents have one of their own. */
export const CODE_FOLDERS = ["host", "plugin-sdk", "plugins", "scripts", "test"];
const FOLDERS = [...CODE_FOLDERS, "docs", ".ci"];
const SOURCE = /\.(?:[jt]s|json|css|html|md)$/;
const NOT_OURS = /(?:^|\/)node_modules\//;

/** The text of each source file below the working directory, by its path. */
export async function readSources(): Promise<ReadonlyMap<string, string>> {
  const below = await Promise.all(
    FOLDERS.map(async (folder) => {
      const names = await readdir(folder, { recursive: true });
      return names.map((name) => join(folder, name));
    }),
  );
  const paths = [...(await readdir(".")), ...below.flat()]
    .filter((path) => SOURCE.test(path) && !NOT_OURS.test(path))
    .toSorted();
  const texts = await Promise.all(
    paths.map(async (path) => [path, await readFile(path, "utf8")] as const),
  );
  return new Map(texts);
}
