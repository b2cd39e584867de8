import { CHANNEL_CLOSED, UNCAUGHT_REJECTION } from "@mantel/plugin-sdk/protocol";
import { FLOOD } from "./channel.ts";

/** How a process ended, and the last lines it wrote to standard error. */
export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly lastLines: readonly string[];
  /** It had sent more than the host read, and the rest lay in its own memory. */
  readonly isFlooding: boolean;
  /** Why the host ended it, when it did, and when the fault began (monotonic, in ms). */
  readonly ended?: { readonly cause: string; readonly since: number };
}

/** Texts of V8 before it gives up for want of memory (deps/v8/src/api/api.cc). */
const HEAP_IS_FULL = /out of memory|Allocation failed|invalid (table )?size/;
const ERROR = /^\[?(\w*Error|Uncaught|UnhandledPromiseRejection)\b/;
/** Signals that the system sends for what only native code does. */
const NATIVE_FAULTS: ReadonlySet<string> = new Set(["SIGSEGV", "SIGBUS", "SIGILL", "SIGFPE"]);

/** Why a process ended, and what its author should look at. */
export function causeOf({ code, signal, lastLines, isFlooding, ended }: Exit): string {
  if (ended) return ended.cause;
  if (lastLines.some((line) => HEAP_IS_FULL.test(line))) {
    if (isFlooding) return FLOOD;
    return 'its heap was full: look for a list, map or cache that only grows, or raise "limits.memoryMiB"';
  }
  const error = lastLines.map((line) => line.trim()).find((line) => ERROR.test(line));
  if (error !== undefined) {
    const isRejection = lastLines.some((line) => line.includes(UNCAUGHT_REJECTION));
    return `it crashed, because nothing caught ${isRejection ? "a rejected promise" : "an error"}: ${error}`;
  }
  if (lastLines.includes(CHANNEL_CLOSED)) {
    return "it closed its channel to the host: close only descriptors that the plugin has opened";
  }
  if (signal !== null) return causeOfSignal(signal);
  return `it ended itself with code ${code}: process.exit ends the whole plugin; throw an error instead`;
}

function causeOfSignal(signal: NodeJS.Signals): string {
  if (signal === "SIGABRT") return "it aborted (SIGABRT): process.abort, or a fault in native code";
  if (NATIVE_FAULTS.has(signal)) return `it crashed with ${signal}: a fault in native code`;
  const who = "its own code, somebody on this machine, or the system when it runs out of memory";
  return `it was ended by ${signal}, which was sent by ${who}`;
}
