import fs from "node:fs";
import { dirname, join } from "node:path";
import type { TestContext } from "node:test";
import { DISK, emptyFolder } from "./folder.ts";
import { showToImports } from "./mocked-imports.ts";

/** The text of a file, or the target of a link. */
type Entry = string | { readonly link: string };

const functions = fs as unknown as Record<string, unknown>;
const READING = [
  "existsSync",
  "lstatSync",
  "readFileSync",
  "readdirSync",
  "readlinkSync",
  "realpathSync",
  "statSync",
] as const;

/**
 * Lets the code see these files below a folder of the system such as `/proc`, and nothing else there, while the test
 * runs: for everything that reads with functions of `node:fs` that are synchronous.
 *
 * @param files entries by their path below `root`, which is `""` itself
 */
export async function fakeSystemFiles(
  t: TestContext,
  root: string,
  files: Readonly<Record<string, Entry>>,
) {
  const folder = await emptyFolder(t, DISK); // one below /dev would be redirected itself
  const write = (path: string, entry: Entry): void => {
    const target = join(folder, path);
    fs.mkdirSync(dirname(target), { recursive: true });
    fs.rmSync(target, { force: true, recursive: true });
    if (typeof entry === "string") fs.writeFileSync(target, entry, "latin1");
    else fs.symlinkSync(entry.link, target);
  };
  for (const [path, entry] of Object.entries(files)) write(path, entry);
  const redirected = (path: unknown): unknown => {
    const isBelow = path === root || String(path).startsWith(`${root}/`);
    return isBelow ? join(folder, String(path).slice(root.length)) : path;
  };
  const originals = READING.map((name) => [name, functions[name]] as const);
  for (const [name, original] of originals) {
    const read = (path: unknown, ...rest: unknown[]) => {
      const result = (original as (...args: unknown[]) => unknown)(redirected(path), ...rest);
      if (name !== "realpathSync" || !String(result).startsWith(folder)) return result;
      return root + String(result).slice(folder.length);
    };
    functions[name] = Object.assign(read, original);
  }
  showToImports(t, () => Object.assign(functions, Object.fromEntries(originals)));
  return {
    write,
    remove: (path: string) => fs.rmSync(join(folder, path), { recursive: true, force: true }),
  };
}
