import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { environmentOfNpm } from "./environment.ts";
import { killGroup } from "./modules/process/leftover-processes.ts";

/** The most that npm may print; a longer answer of a registry ends it. */
const MAX_OUTPUT_BYTES = 16 * 2 ** 20;
/** `ulimit -f` counts blocks of 512 bytes (POSIX). */
const BLOCK_BYTES = 512;

export interface NpmOptions {
  readonly timeoutMs: number;
  /** Called with each line of output. */
  readonly heard?: (line: string) => void;
  /** Ends npm early. */
  readonly signal?: AbortSignal | undefined;
  /** The largest file that npm may write, such as a download. */
  readonly maxFileBytes?: number;
}

/** The result of an npm process. */
export interface NpmResult {
  /** Null if it could not be started, or was killed at its deadline or by the signal. */
  readonly code: number | null;
  /** All lines, without empty ones. */
  readonly lines: readonly string[];
  /** The lines of standard output. */
  readonly output: string;
}

/**
 * Runs npm in `folder`, with the environment that npm may see. It is killed with all programs that it started
 * when its time is over.
 */
export async function runNpm(
  folder: string,
  args: readonly string[],
  { timeoutMs, heard, signal, maxFileBytes }: NpmOptions,
): Promise<NpmResult> {
  const [program, ...rest] = commandOf(args, maxFileBytes);
  const child = spawn(program, rest, {
    cwd: folder,
    env: environmentOfNpm(),
    stdio: ["ignore", "pipe", "pipe"],
    detached: true, // its own process group, so that git and other children end with it
  });
  const end = (): void => {
    if (child.pid !== undefined) killGroup(child.pid);
    child.kill();
  };
  const lines: string[] = [];
  const output: string[] = [];
  let bytes = 0;
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > MAX_OUTPUT_BYTES) end();
    });
    createInterface({ input: stream }).on("line", (line) => {
      if (line.trim() === "") return;
      lines.push(line);
      if (stream === child.stdout) output.push(line);
      heard?.(line);
    });
  }
  const deadline = setTimeout(end, timeoutMs);
  signal?.addEventListener("abort", end);
  if (signal?.aborted) end();
  const code = await new Promise<number | null>((done) => {
    child.once("error", () => done(null));
    child.once("close", done);
  });
  clearTimeout(deadline);
  signal?.removeEventListener("abort", end);
  return { code, lines, output: output.join("\n") };
}

function commandOf(
  args: readonly string[],
  maxFileBytes: number | undefined,
): [program: string, ...args: string[]] {
  if (maxFileBytes === undefined) return ["npm", ...args];
  const blocks = Math.ceil(maxFileBytes / BLOCK_BYTES);
  return ["sh", "-c", `ulimit -f ${blocks} && exec npm "$@"`, "npm", ...args];
}
