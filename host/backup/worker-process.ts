import { fork } from "node:child_process";
import { once } from "node:events";
import type { Readable } from "node:stream";
import { MantelError } from "@mantel/plugin-sdk/errors";
import { mebibytes } from "./limits.ts";
import type { MakeTask, Outcome, RestoreTask } from "./worker.ts";

/** The heap for texts and objects of the largest backup. Its unpacked bytes are outside of it. */
const HEAP_MIB = 512;
const DEADLINE_MS = 60_000;
/** The largest answer. A larger home is backed up by the command, which writes a file. */
const MAX_OUTPUT_BYTES = 32 * 2 ** 20;
const LAST_WORDS = 4_000;
/** The kinds of tasks in messages. */
const NAMES = { make: "backup", restore: "restore" } as const;

type Done<Kind> = Extract<Outcome, { kind: Kind }>;

/** A backup, and the files of the home whose names it cannot contain. */
export async function makeBackupInProcess(
  program: string,
  task: MakeTask,
  signal: AbortSignal,
): Promise<{ packed: Buffer; leftOut: readonly string[] }> {
  const { outcome, output } = await run<"made">(program, { task, signal });
  return { packed: output, leftOut: outcome.leftOut };
}

/** Checks the restore that `body` requests, and stages it in the folder of the task. */
export async function stageRestoreInProcess(
  program: string,
  task: RestoreTask,
  { body, signal }: { body: Buffer; signal: AbortSignal },
): Promise<Done<"staged">["summary"]> {
  return (await run<"staged">(program, { task, body, signal })).outcome.summary;
}

interface Work {
  readonly task: MakeTask | RestoreTask;
  readonly body?: Buffer;
  /** Kills the process. */
  readonly signal: AbortSignal;
}

/**
 * Runs one task in a separate process and resolves when that has ended. The process gets only
 * its task, over its channel: other users can see the arguments and environments of processes.
 *
 * @throws MantelError of the task; `deadline_passed`; `service_unavailable` if it was killed
 */
async function run<Kind extends "made" | "staged">(
  program: string,
  { task, body, signal }: Work,
): Promise<{ outcome: Done<Kind>; output: Buffer }> {
  const deadline = AbortSignal.timeout(DEADLINE_MS);
  const overflow = new AbortController();
  const child = fork(program, {
    cwd: "/",
    env: {},
    execArgv: [`--max-old-space-size=${HEAP_MIB}`],
    stdio: ["pipe", "pipe", "pipe", "ipc"],
    signal: AbortSignal.any([signal, deadline, overflow.signal]),
    killSignal: "SIGKILL",
  });
  const { stdin, stdout, stderr } = child;
  const output = collect(stdout, MAX_OUTPUT_BYTES, () => overflow.abort());
  const words = collect(stderr, LAST_WORDS);
  let outcome: Outcome | undefined;
  child.on("message", (message) => (outcome = message as Outcome));
  const ended = once(child, "close").catch(() => once(child, "close")); // "error" reports the abort
  stdin?.on("error", () => undefined).end(body);
  child.send(task, () => undefined); // the end of the process reports a failed start
  const [code, killedBy] = (await ended) as [number | null, NodeJS.Signals | null];
  const name = NAMES[task.kind];
  if (signal.aborted) throw new MantelError("service_unavailable", `the ${name} was cancelled`);
  if (deadline.aborted) {
    const detail = `the ${name} was cancelled after ${DEADLINE_MS / 1_000} seconds`;
    throw new MantelError("deadline_passed", detail);
  }
  if (overflow.signal.aborted) {
    const detail = `the backup is larger than ${mebibytes(MAX_OUTPUT_BYTES)}`;
    throw new MantelError("invalid", `${detail}; make it with npm run backup`);
  }
  if (outcome?.kind === "refused") {
    const { errors } = outcome;
    throw new MantelError(outcome.code, outcome.message, errors ? { errors } : {});
  }
  if (outcome) return { outcome: outcome as Done<Kind>, output: Buffer.concat(output) };
  if (killedBy === "SIGABRT" || killedBy === "SIGKILL") {
    // V8 aborts at its limit; the system kills at its own
    throw new MantelError("invalid", `the ${name} needs more than ${HEAP_MIB} MiB of memory`);
  }
  throw new Error(
    `the ${name} process ended (${code ?? killedBy}): ${Buffer.concat(words).toString()}`,
  );
}

/** The chunks of a stream, complete when it has closed. */
function collect(stream: Readable | null, maxBytes: number, onFull?: () => void): Buffer[] {
  const chunks: Buffer[] = [];
  let size = 0;
  stream?.on("data", (chunk: Buffer) => {
    size += chunk.length;
    if (size <= maxBytes) chunks.push(chunk);
    else onFull?.();
  });
  return chunks;
}
