import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, rename, rm, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { promisify } from "node:util";

const CACHE = resolve(import.meta.dirname, "../../node_modules/.cache");
/** Less than a test process may be silent. What npm has fetched until then is there the next time. */
const INSTALL_MS = 100_000;

interface Wanted {
  readonly name: string;
  readonly version: string;
  /** Versions of what it depends on, as in the manifest of a project. */
  readonly overrides?: Readonly<Record<string, string>>;
  /** More options of npm. */
  readonly options?: readonly string[];
}

/**
 * A program from npm that only some tests need, installed at its first use. Gives the folder whose `node_modules` has
 * it, and `missing`: false, or why the tests that need it are skipped.
 */
export async function installedPackage(
  wanted: Wanted,
): Promise<{ folder: string; missing: false | string }> {
  const folder = join(CACHE, `${wanted.name.replaceAll("/", "-")}-${wanted.version}`);
  return { folder, missing: existsSync(folder) ? false : await install(wanted, folder) };
}

/** It appears whole or not at all: a process that is ended meanwhile leaves no half of it for the next one. */
async function install(
  { name, version, overrides, options = [] }: Wanted,
  folder: string,
): Promise<false | string> {
  const unfinished = `${folder}.${process.pid}`;
  await mkdir(unfinished, { recursive: true });
  const manifest = { private: true, dependencies: { [name]: version }, overrides };
  const args = ["install", "--ignore-scripts", "--no-audit", "--no-fund", ...options];
  try {
    await writeFile(join(unfinished, "package.json"), JSON.stringify(manifest));
    await promisify(execFile)("npm", args, { cwd: unfinished, timeout: INSTALL_MS });
    await rename(unfinished, folder).catch((error: unknown) => {
      if (!existsSync(folder)) throw error; // else another process was faster
    });
    return false;
  } catch (error) {
    return `npm did not install ${name}: ${String(error).split("\n")[0]}`;
  } finally {
    await rm(unfinished, { recursive: true, force: true });
  }
}
