import { availableParallelism } from "node:os";
import type { ProcessFigures } from "@mantel/plugin-sdk/protocol";
import { FLOOD_MESSAGE } from "../channel.ts";
import type { PluginProcess } from "../plugin-process.ts";
import { readMemoryAndDescriptors } from "../procfs.ts";
import { findHang, type Hang } from "./hang.ts";
import { exampleOf } from "./system-calls.ts";
import { type ProcessSample, sampleProcess } from "./threads.ts";

/** Nearly all answers come within this time, and need no sample: one reads some thirty files. */
const PROMPT_MS = 50;
/** The second sample of a silent process is taken after this time, the next ones each `AGAIN_MS`. */
const SILENCE_MS = 1_000;
const AGAIN_MS = 250;
/** An answer may wait unread in the host's own channel when the host was busy. */
const GRACE_MS = 50;
/** Without `/proc` nothing tells a late process from one that hangs, and it is killed after this time. */
const UNKNOWN_MS = 5_000;
/** The longest silence of a process that waits for a CPU or a disk. */
const STARVED_MS = 600_000;
/** With a heap this full, the process spends all its time on garbage collection. */
const NEARLY_FULL = 0.9;
/** Garbage collection also runs in other threads, while the main thread sleeps and waits for them. */
const COLLECTING_MS = 100;

/** The liveness of a process: an answer, or the reason for its silence. Neither if it is debugged. */
export interface LivenessResult {
  readonly figures?: ProcessFigures;
  readonly silence?: string;
}

/**
 * Checks that a generation is alive; resolves when it has answered or counts as hung. A process that waits for a CPU is
 * late and not hung, so on a busy machine this takes longer.
 *
 * @param withinMs the longest wait for a process that is late
 */
export async function checkAlive(
  generation: PluginProcess,
  withinMs = STARVED_MS,
): Promise<LivenessResult> {
  const { peer, pid, inspectPort } = generation;
  const askedAt = performance.now();
  const answer = peer.call("ping", {}, withinMs).catch(() => undefined);
  if ((await soon(answer, PROMPT_MS)) === "silent") {
    const samples = [sampleProcess(pid)];
    for (let waitMs = SILENCE_MS; (await soon(answer, waitMs)) === "silent"; waitMs = AGAIN_MS) {
      if (inspectPort !== undefined) return {}; // a debugger may have paused it
      samples.push(sampleProcess(pid));
      const cause = findSilenceCause(generation, samples);
      if ((await soon(answer, GRACE_MS)) !== "silent") break;
      const silentMs = Math.round(performance.now() - askedAt);
      if (cause !== undefined) return { silence: `it did not answer for ${silentMs} ms${cause}` };
    }
  }
  const figures = await answer;
  const silentMs = Math.round(performance.now() - askedAt);
  if (!figures) return { silence: `it did not answer for ${silentMs} ms` };
  const { cpuMicros, heapBytes, loopLagP99Ms } = figures;
  if (![cpuMicros, heapBytes, loopLagP99Ms].every(Number.isFinite))
    return { silence: "it sent invalid usage figures" };
  return { figures };
}

/** The cause of a silence. `undefined` for a process that waits for a CPU or a disk: it is late and not hung. */
function findSilenceCause(
  { pid, isFlooding, hasUnread, isPrinting, settings }: PluginProcess,
  samples: readonly ProcessSample[],
): string | undefined {
  const [first] = samples;
  const now = samples.at(-1);
  if (!first || !now) return undefined;
  if (now.main.state === "T") return ": a signal (SIGSTOP) has stopped it";
  if (isFlooding) return `: ${FLOOD_MESSAGE}`;
  if (hasUnread) return undefined; // its answer may be among the unread messages
  if (isPrinting) return ": it waits for the host to read its output; print less";
  if (now.main.state === "") return now.at - first.at > UNKNOWN_MS ? "" : undefined;
  const hang = findHang(samples, availableParallelism());
  return hang && causeOfHang(hang, pid, settings.memoryMiB);
}

function causeOfHang({ usedMs, isAsleep, syscall }: Hang, pid: number, memoryMiB: number): string {
  if (usedMs > COLLECTING_MS && isNearlyFull(pid, memoryMiB)) {
    return `: its heap is full and it only collects garbage; keep less in memory, or raise "limits.memoryMiB"`;
  }
  if (isAsleep) {
    return `, asleep: a synchronous call such as ${exampleOf(syscall)} blocks it; use the asynchronous one`;
  }
  return ` and used ${usedMs} ms of CPU: look for an endless loop, regular expression or chain of promises`;
}

/** Resolves with the answer, or with `"silent"` after `ms`. */
async function soon<T>(answer: Promise<T>, ms: number): Promise<T | "silent"> {
  let timer: NodeJS.Timeout | undefined;
  const silent = new Promise<"silent">((resolve) => {
    timer = setTimeout(resolve, ms, "silent");
  });
  return Promise.race([answer, silent]).finally(() => clearTimeout(timer));
}

function isNearlyFull(pid: number, memoryMiB: number): boolean {
  return readMemoryAndDescriptors(pid).memoryBytes > memoryMiB * 2 ** 20 * NEARLY_FULL;
}
