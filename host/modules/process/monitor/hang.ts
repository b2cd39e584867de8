import type { ProcessSample, ThreadSample } from "./threads.ts";

/** The time that a process has to answer in, without the time that it waited for a CPU or a disk. */
const SILENCE_MS = 1_000;
/** On a busy machine a second of CPU time does less: threads share cores, caches and memory. */
const BUSY_FACTOR = 2;
/** A process that used this share of its time was busy, and asleep below it. */
const BUSY_SHARE = 0.5;

/** A process that got enough time to answer, and how it spent that time. */
export interface Hang {
  /** CPU time of all threads since it was asked. */
  readonly usedMs: number;
  /** True if it has not used much of its time. */
  readonly isAsleep: boolean;
  /** The number of the system call in which it sleeps, if it is known. */
  readonly syscall: number | undefined;
}

/**
 * Decides from samples since a process was asked for a sign of life whether it hangs. `undefined` for one that is late:
 * it waited for a CPU or a disk, itself or through a thread or child process that it waits for.
 *
 * @param samples the first from when it was asked; later ones a moment after it had still not answered
 * @param cpus CPUs of this machine
 */
export function findHang(samples: readonly ProcessSample[], cpus: number): Hang | undefined {
  const [first] = samples;
  const last = samples.at(-1);
  if (!first || !last || last === first) return undefined;
  const steps = samples.slice(1).map((now, at) => [samples[at] ?? first, now] as const);
  const ownMs = sum(steps.map(([before, now]) => now.at - before.at - lostMs(before, now)));
  const isBusy = samples.some(({ runnable }) => runnable > cpus);
  if (ownMs < SILENCE_MS * (isBusy ? BUSY_FACTOR : 1)) return undefined;
  const usedMs = Math.round(
    last.main.ranMs - first.main.ranMs + sum(ranMs(first.threads, last.threads)),
  );
  const isAsleep = usedMs < ownMs * BUSY_SHARE;
  if (isAsleep && last.main.state !== "S") return undefined; // it woke up
  return { usedMs, isAsleep, syscall: last.syscall };
}

/** The part of a step in which a process could not continue, because a CPU or a disk kept it waiting. */
function lostMs(before: ProcessSample, now: ProcessSample): number {
  const stepMs = now.at - before.at;
  const main = waitingMs(before.main, now.main, stepMs);
  if (now.main.state !== "S") return main;
  const others = [...now.threads, ...now.children].map(([id, other]) => {
    const earlier = before.threads.get(id) ?? before.children.get(id);
    return earlier ? waitingMs(earlier, other, stepMs) : 0;
  });
  return Math.max(main, ...others);
}

/** A wait that still lasts is not in the kernel's figure yet, so a thread that is ready waited whenever it did not run. */
function waitingMs(before: ThreadSample, now: ThreadSample, stepMs: number): number {
  const isWaiting = now.state === "R" || now.state === "D";
  const ms = isWaiting ? stepMs - (now.ranMs - before.ranMs) : now.waitedMs - before.waitedMs;
  return Math.min(stepMs, Math.max(0, ms));
}

/** CPU time that each thread used between two samples. */
function ranMs(before: ProcessSample["threads"], now: ProcessSample["threads"]): number[] {
  return [...now].map(([id, thread]) => thread.ranMs - (before.get(id)?.ranMs ?? thread.ranMs));
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
