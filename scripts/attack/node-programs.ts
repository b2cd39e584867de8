import { execFile } from "node:child_process";
import { mkdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

/** The lines of Node that Mantel runs on, and on which the attacks are tried. */
const LINES = ["20", "24"];
const INSTALL_MS = 300_000;
const run = promisify(execFile);

/** A Node to run hosts with. */
export interface NodeProgram {
  readonly program: string;
  /** Such as `v20.20.2`. */
  readonly version: string;
}

/**
 * The Node that runs this, and one of each other line from npm's package `node`, which stays in a temporary
 * folder. Tells on standard error which line is missing.
 */
export async function findNodes(): Promise<NodeProgram[]> {
  const found: NodeProgram[] = [];
  for (const line of LINES) {
    try {
      found.push(await nodeOf(line));
    } catch (error) {
      const reason = String((error as Error).message).split("\n")[0];
      process.stderr.write(
        `Node ${line} is missing (${reason}); name its program with --node to try the attacks on it\n`,
      );
    }
  }
  return found;
}

/** @throws Error when there is no such program, or it is not Node */
export async function readVersion(program: string): Promise<NodeProgram> {
  const { stdout } = await run(program, ["--version"]);
  return { program, version: stdout.trim() };
}

async function nodeOf(line: string): Promise<NodeProgram> {
  if (process.versions.node.startsWith(`${line}.`)) return readVersion(process.execPath);
  const folder = join(tmpdir(), "mantel-attack-nodes", line);
  const program = join(folder, "node_modules/node/bin/node");
  try {
    return await readVersion(program);
  } catch {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const flags = ["--prefix", folder, "--no-audit", "--no-fund"];
    await run("npm", ["install", ...flags, `node@${line}`], { timeout: INSTALL_MS });
    return readVersion(program);
  }
}
