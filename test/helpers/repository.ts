import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { cp, mkdir, readFile, symlink } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import type { TestContext } from "node:test";
import { copyInto } from "./copy-into.ts";
import { emptyFolder } from "./folder.ts";

const REPOSITORY = resolve(import.meta.dirname, "../..");
const SHARED = ["host", "layouts", "node_modules", "package.json", "plugin-sdk", "scripts"];
const INSTALLED = ".package-lock.json";
const TOOL_SETTINGS = [".ci", "tsconfig.json"];

/** A program that has ended. */
export interface Ended {
  readonly code: number;
  /** Standard output, then standard error. */
  readonly output: string;
}

export interface TestRepository {
  readonly folder: string;
  /** Runs a program in the folder. */
  readonly run: (program: string, ...args: readonly string[]) => Promise<Ended>;
}

/**
 * The host's sources and the SDK in a folder of their own, with the packages that the host, the SDK and these plugins
 * use. The packages are copied: a link is not an installed package, and a hard link changes the time of the
 * repository's own file, after which the hosts of all other tests build the dashboard again.
 */
export async function copyOfHost(t: TestContext, plugins: readonly string[] = []): Promise<string> {
  const folder = await emptyFolder(t);
  for (const name of ["host", "layouts", "plugin-sdk", "package.json", "tsconfig.json"]) {
    await cp(join(REPOSITORY, name), join(folder, name), { recursive: true });
  }
  const packages = await packagesOf(["", "plugin-sdk", ...plugins]);
  const to = join(folder, "node_modules");
  for (const scope of new Set([...packages.map((name) => dirname(name)), "@mantel"])) {
    const names = packages.filter((name) => dirname(name) === scope);
    await mkdir(join(to, scope), { recursive: true });
    await copyInto(
      join(to, scope),
      names.map((name) => join(REPOSITORY, "node_modules", name)),
    );
  }
  await cp(join(REPOSITORY, "node_modules", INSTALLED), join(to, INSTALLED));
  await symlink(join(folder, "plugin-sdk"), join(to, "@mantel/plugin-sdk"));
  return folder;
}

interface Needs {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

/** The installed npm packages that these folders of the repository depend on, and all that those depend on. */
async function packagesOf(folders: readonly string[]): Promise<readonly string[]> {
  const needsOf = async (folder: string) => {
    const text = await readFile(join(REPOSITORY, folder, "package.json"), "utf8");
    const { dependencies, optionalDependencies } = JSON.parse(text) as Needs;
    return Object.keys({ ...dependencies, ...optionalDependencies });
  };
  const found = new Set((await Promise.all(folders.map(needsOf))).flat());
  for (const name of found) {
    const folder = join("node_modules", name);
    if (name.startsWith("@mantel/") || !existsSync(join(REPOSITORY, folder))) found.delete(name);
    else for (const needed of await needsOf(folder)) found.add(needed);
  }
  return [...found];
}

/** A repository with this one's code and tools, and without plugins and tests. */
export async function emptyRepository(t: TestContext): Promise<TestRepository> {
  const folder = await emptyFolder(t);
  for (const name of SHARED) await symlink(join(REPOSITORY, name), join(folder, name));
  for (const name of TOOL_SETTINGS)
    await cp(join(REPOSITORY, name), join(folder, name), { recursive: true });
  await mkdir(join(folder, "plugins"));
  await cp(join(REPOSITORY, "test/helpers"), join(folder, "test/helpers"), { recursive: true });

  // Inside a test run, Node's test runner starts no other one.
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const run = (program: string, ...args: readonly string[]) =>
    new Promise<Ended>((resolveRun) => {
      const child = execFile(program, args, { cwd: folder, env }, (_failure, stdout, stderr) =>
        resolveRun({ code: child.exitCode ?? 1, output: stdout + stderr }),
      );
    });
  return { folder, run };
}
