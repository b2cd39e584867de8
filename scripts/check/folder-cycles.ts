import { dirname, join } from "node:path";

/** Folders whose folders import in one direction only. */
export const LAYERED_FOLDERS = ["host", "host/modules"];

const IMPORT = /\bfrom "(\.[^"]+)"/g;

/**
 * Finds the folders directly below `root` that import each other, directly or through others. Returns a line for each
 * such group, with an import for each step of the circle. `sources` has the text of each file by its path.
 */
export function findFolderCycles(root: string, sources: ReadonlyMap<string, string>): string[] {
  const imports = importsBetweenFolders(root, sources);
  const reported = new Set<string>();
  return [...imports.keys()].flatMap((folder) => {
    const circle = reported.has(folder) ? undefined : circleThrough(folder, imports);
    if (!circle) return [];
    for (const { from } of circle) reported.add(from);
    const steps = circle.map(({ from, to, example }) => `${from} -> ${to} (${example})`);
    return [`the folders of ${root} import in a circle: ${steps.join(", ")}`];
  });
}

/** For each folder, the folders it imports, each with the first file that does. */
type Imports = ReadonlyMap<string, ReadonlyMap<string, string>>;

function importsBetweenFolders(root: string, sources: ReadonlyMap<string, string>): Imports {
  const imports = new Map<string, Map<string, string>>();
  for (const [path, text] of sources) {
    const from = folderBelow(root, path);
    if (from === undefined || !path.endsWith(".ts")) continue;
    for (const [, specifier = ""] of text.matchAll(IMPORT)) {
      const to = folderBelow(root, join(dirname(path), specifier));
      if (to === undefined || to === from) continue;
      const known = imports.get(from) ?? new Map<string, string>();
      imports.set(from, known);
      if (!known.has(to)) known.set(to, path);
    }
  }
  return imports;
}

/** The folder directly below `root` that contains the file; `undefined` for one outside all of them. */
function folderBelow(root: string, path: string): string | undefined {
  if (!path.startsWith(`${root}/`)) return undefined;
  const [folder, file] = path.slice(root.length + 1).split("/");
  return file === undefined ? undefined : folder;
}

interface Step {
  readonly from: string;
  readonly to: string;
  readonly example: string;
}

/** The shortest circle of imports that begins and ends at a folder. */
function circleThrough(folder: string, imports: Imports): readonly Step[] | undefined {
  const ways: (readonly Step[])[] = [[]];
  const seen = new Set<string>();
  for (const way of ways) {
    const from = way.at(-1)?.to ?? folder;
    for (const [to, example] of imports.get(from) ?? []) {
      const longer = [...way, { from, to, example }];
      if (to === folder) return longer;
      if (!seen.has(to)) ways.push(longer);
      seen.add(to);
    }
  }
  return undefined;
}
