import type { ProcessFigures } from "@mantel/plugin-sdk/protocol";
import { FLOOD } from "./channel.ts";
import type { Generation } from "./generation.ts";
import { type ProcessState, readHoldings, readProcess } from "./proc.ts";

/** A process that computes, or sleeps, and does not answer is hung after this long. */
const SILENCE_MS = 1_000;
const AGAIN_MS = 250;
/** A process that does not answer may only be short of a CPU until then. */
const STARVED_MS = 5_000;
/** An answer may lie unread in the host's own channel when the host was busy. */
const GRACE_MS = 50;
/** A heap this full leaves the process no time but for the collection of its garbage. */
const NEARLY_FULL = 0.9;
/** Collecting is done by other threads too, while the main one sleeps and waits for them. */
const COLLECTING_MS = 100;
/** One that gets little of a busy CPU may be seen asleep, too, while it waits for its other threads. */
const IDLE_SHARE = 0.1;

/** What a process answers to whether it lives, or in words why it does not. Neither when it is debugged. */
export interface SignOfLife {
  readonly figures?: ProcessFigures;
  readonly silence?: string;
}

/** Asks a generation for a sign of life, and waits until it has given one or is hung. */
export async function askForLife(generation: Generation): Promise<SignOfLife> {
  const { peer, pid, inspectPort } = generation;
  const before = readProcess(pid);
  let last = before;
  const askedAt = performance.now();
  const answer = peer.call("ping", {}, STARVED_MS).catch(() => undefined);
  for (let waitMs = SILENCE_MS; (await soon(answer, waitMs)) === "silent"; waitMs = AGAIN_MS) {
    if ((await soon(answer, GRACE_MS)) !== "silent") break;
    if (inspectPort !== undefined) return {}; // a debugger may have paused it
    const now = readProcess(pid);
    const isIdle = now.state === "S" && now.cpuMs - last.cpuMs < waitMs * IDLE_SHARE;
    const cause = causeOfSilence(generation, now, { usedMs: now.cpuMs - before.cpuMs, isIdle });
    last = now;
    const silentMs = Math.round(performance.now() - askedAt);
    if (cause !== undefined) return { silence: `it did not answer for ${silentMs} ms${cause}` };
  }
  const figures = await answer;
  if (!figures) return { silence: `it did not answer for ${STARVED_MS} ms` };
  if (!Object.values(figures).every(Number.isFinite))
    return { silence: "it gave figures that are no numbers" };
  return { figures };
}

/** A process that waits for a CPU or a disk is late and not hung. */
function causeOfSilence(
  { pid, isFlooding, isPrinting, settings }: Generation,
  now: ProcessState,
  { usedMs, isIdle }: { usedMs: number; isIdle: boolean },
): string | undefined {
  if (now.state === "T") return ": a signal (SIGSTOP) has stopped it";
  if (isFlooding) return `: ${FLOOD}`;
  if (isPrinting) return ": it waits for the host to read all that it prints; print less";
  if (usedMs > COLLECTING_MS && isNearlyFull(pid, settings.memoryMiB)) {
    return `: its heap is full, and it only collects garbage; keep less, or raise "limits.memoryMiB"`;
  }
  if (usedMs < SILENCE_MS / 2) {
    return isIdle ? ", asleep: something like execSync blocks it; use what is async" : undefined;
  }
  return ` and used ${usedMs} ms of CPU: look for a loop, a regular expression or a chain of promises that does not end`;
}

/** What comes within `ms`, or `"silent"`. */
async function soon<T>(answer: Promise<T>, ms: number): Promise<T | "silent"> {
  let timer: NodeJS.Timeout | undefined;
  const silent = new Promise<"silent">((resolve) => {
    timer = setTimeout(resolve, ms, "silent");
  });
  return Promise.race([answer, silent]).finally(() => clearTimeout(timer));
}

function isNearlyFull(pid: number, memoryMiB: number): boolean {
  return readHoldings(pid).memoryBytes > memoryMiB * 2 ** 20 * NEARLY_FULL;
}
