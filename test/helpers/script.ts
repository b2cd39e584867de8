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
 * Runs a command of `scripts/`, bundled once for all tests of the process: it starts in a tenth of the time that its
 * sources need.
 */
export async function runScript(
  name: string,
  args: readonly string[],
  { cwd = REPOSITORY, env = process.env } = {},
): Promise<EndedScript> {
  const file = `scripts/${name}.ts`;
  const bundled = bundles.get(name) ?? bundle([file]).then((pathOf) => pathOf(file));
  bundles.set(name, bundled);
  const program = await bundled;
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
