import { CHANNEL_CLOSED, UNCAUGHT_REJECTION } from "@mantel/plugin-sdk/protocol";
import { FLOOD_MESSAGE } from "./channel.ts";

/** The end of a process: its exit code or signal, and the last lines it wrote to standard error. */
export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly lastLines: readonly string[];
  /** True if it had sent more than the host read, so that the rest filled its own memory. */
  readonly isFlooding: boolean;
  /** True if the kernel killed it or one of its child processes because together they used too much memory. */
  readonly isOutOfMemory: boolean;
  /** The cause for which the host killed it, if it did, and when the fault began (monotonic, in ms). */
  readonly ended?: { readonly cause: string; readonly since: number };
}

/** V8's messages when it runs out of memory (deps/v8/src/api/api.cc). */
const HEAP_IS_FULL = /out of memory|Allocation failed|invalid (table )?size/;
const ERROR = /^\[?(\w*Error|Uncaught|UnhandledPromiseRejection)\b/;
/** Signals that the system sends for faults in native code. */
const NATIVE_FAULTS: ReadonlySet<string> = new Set(["SIGSEGV", "SIGBUS", "SIGILL", "SIGFPE"]);

/** The reason why a process ended, with a hint for its author. */
export function exitReason({
  code,
  signal,
  lastLines,
  isFlooding,
  isOutOfMemory,
  ended,
}: Exit): string {
  if (ended) return ended.cause;
  if (isOutOfMemory && signal === "SIGKILL") {
    return 'it used more memory than its limit, together with its child processes: look for buffers that it keeps, or raise "limits.memoryMiB"';
  }
  const refused = lastLines.find((line) => line.startsWith("bwrap: "));
  if (refused !== undefined) return `its sandbox did not start (${refused})`;
  if (lastLines.some((line) => HEAP_IS_FULL.test(line))) {
    if (isFlooding) return FLOOD_MESSAGE;
    return 'its heap was full: look for a list, map or cache that only grows, or raise "limits.memoryMiB"';
  }
  const error = lastLines.map((line) => line.trim()).find((line) => ERROR.test(line));
  if (error !== undefined) {
    const isRejection = lastLines.some((line) => line.includes(UNCAUGHT_REJECTION));
    return `it crashed with ${isRejection ? "an unhandled rejection" : "an uncaught error"}: ${error}`;
  }
  if (lastLines.includes(CHANNEL_CLOSED)) {
    return "it closed its channel to the host: close only descriptors that the plugin has opened";
  }
  if (signal !== null) return causeOfSignal(signal);
  return `it exited with code ${code}: process.exit ends the whole plugin; throw an error instead`;
}

function causeOfSignal(signal: NodeJS.Signals): string {
  if (signal === "SIGABRT")
    return "it aborted (SIGABRT): process.abort was called, or native code failed";
  if (NATIVE_FAULTS.has(signal)) return `it crashed with ${signal}: a fault in native code`;
  const who = "its own code, a user of this machine, or the system when it runs out of memory";
  return `it was killed by ${signal}, sent by ${who}`;
}
