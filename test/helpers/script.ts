import { execFile } from "node:child_process";
import { resolve } from "node:path";
import { bundle } from "../../scripts/test/bundle.ts";
import type { Ended } from "./repository.ts";

const REPOSITORY = resolve(import.meta.dirname, "../..");
const bundles = new Map<string, Promise<string>>();

/** The output of a command, and its end. */
export interface EndedScript extends Ended {
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * The path of a program that is bundled once for all tests of the process: it starts in a tenth of the time that its
 * sources need.
 */
export function bundledProgram(file: string): Promise<string> {
  const bundled = bundles.get(file) ?? bundle([file]).then((pathOf) => pathOf(file));
  bundles.set(file, bundled);
  return bundled;
}

/** Runs a command of `scripts/`. */
export async function runScript(
  name: string,
  args: readonly string[],
  { cwd = REPOSITORY, env = process.env } = {},
): Promise<EndedScript> {
  const program = await bundledProgram(`scripts/${name}.ts`);
  return new Promise((done) => {
    const child = execFile(
      process.execPath,
      [program, ...args],
      { cwd, env },
      (_, stdout, stderr) =>
        done({ code: child.exitCode ?? -1, stdout, stderr, output: stdout + stderr }),
    );
  });
}
