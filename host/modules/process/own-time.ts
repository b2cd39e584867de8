import { MantelError } from "@mantel/plugin-sdk/errors";
import { waitedForCpuMs } from "./monitor/threads.ts";
import type { PluginProcess } from "./plugin-process.ts";

/** The longest wait for a process that hardly gets a CPU, as a multiple of its deadline. */
const LONGEST = 10;

/**
 * Waits for the answer of a process within a deadline in time of its own: while it or the host, whose answers it needs,
 * was ready and waited for a CPU, the clock does not count. So a start that is quick enough on a quiet machine does not
 * fail on a busy one.
 *
 * @param call sends the request; its deadline is the longest wait on the clock, in ms
 * @param waitedMs the time for which the process and the host have waited for a CPU since they began
 * @throws MantelError `deadline_passed`, and what `call` throws
 */
export async function withinOwnTime<T>(
  { what, deadlineMs, waitedMs }: OwnDeadline,
  call: (longestMs: number) => Promise<T>,
): Promise<T> {
  const startedAt = performance.now();
  const before = waitedMs();
  const answer = call(deadlineMs * LONGEST);
  answer.catch(() => undefined); // one that comes too late is not handled
  for (let leftMs = deadlineMs; leftMs > 0;) {
    if (await settles(answer, leftMs)) return answer;
    const elapsedMs = performance.now() - startedAt;
    leftMs = deadlineMs - Math.max(0, elapsedMs - (waitedMs() - before)); // both may have waited at the same time
  }
  throw new MantelError("deadline_passed", `${what} timed out after ${deadlineMs} ms`);
}

export interface OwnDeadline {
  /** A noun phrase for the error message. */
  readonly what: string;
  readonly deadlineMs: number;
  readonly waitedMs: () => number;
}

/** The deadline of a call to a process. The id of one that has just started is known later. */
export function ownDeadline(
  what: string,
  generation: Pick<PluginProcess, "pid">,
  deadlineMs: number,
  waitedMs = waitedForCpuMs,
): OwnDeadline {
  return { what, deadlineMs, waitedMs: () => waitedWithHostMs(generation.pid, waitedMs) };
}

/** The time for which a process and the host, whose answers it needs, have waited for a CPU since they began. */
export function waitedWithHostMs(pid: number, waitedMs = waitedForCpuMs): number {
  return waitedMs(pid) + waitedMs(process.pid);
}

/** True if the promise settles within `ms`. */
async function settles(answer: Promise<unknown>, ms: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(resolve, ms, false);
  });
  const settled = answer.then(
    () => true,
    () => true,
  );
  return Promise.race([settled, late]).finally(() => clearTimeout(timer));
}
