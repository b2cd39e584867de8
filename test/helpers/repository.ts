import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, readdir, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { TestContext } from "node:test";
import { promisify } from "node:util";
import { emptyFolder } from "./folder.ts";

const REPOSITORY = resolve(import.meta.dirname, "../..");
const SHARED = ["host", "layouts", "node_modules", "package.json", "plugin-sdk", "scripts"];
const INSTALLED = ".package-lock.json";
/** A link to the first would change its time, and with that the name of the compiled host of this repository. */
const OWN = [INSTALLED, ".cache"];
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

/** The host's sources and the SDK in a folder of their own, with the packages of this repository. */
export async function copyOfHost(t: TestContext): Promise<string> {
  const folder = await emptyFolder(t);
  for (const name of ["host", "layouts", "plugin-sdk", "package.json", "tsconfig.json"]) {
    await cp(join(REPOSITORY, name), join(folder, name), { recursive: true });
  }
  // Copies and not links, which are not installed packages; hard ones where the file system allows it.
  const packages = join(REPOSITORY, "node_modules");
  const to = join(folder, "node_modules");
  const names = (await readdir(packages)).filter((name) => !OWN.includes(name));
  const from = names.map((name) => join(packages, name));
  const copy = (flags: string) => promisify(execFile)("cp", [flags, ...from, to]);
  await mkdir(to);
  await copy("-al").catch(() => copy("-a"));
  await cp(join(packages, INSTALLED), join(to, INSTALLED));
  await rm(join(to, "@mantel/plugin-sdk"));
  await symlink(join(folder, "plugin-sdk"), join(to, "@mantel/plugin-sdk"));
  return folder;
}

/** A repository with this one's code and tools, and without plugins and tests. */
export async function emptyRepository(t: TestContext): Promise<TestRepository> {
  const folder = await mkdtemp(join(tmpdir(), "mantel-repository-"));
  t.after(() => rm(folder, { recursive: true }));
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
