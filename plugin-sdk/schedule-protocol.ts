import type { ScheduleSpec } from "./schedule-spec.ts";

export interface SetScheduleRequest {
  readonly name: string;
  readonly spec: ScheduleSpec;
  readonly missed: "skip" | "once";
  /** True during the start, when a kept timer with the same values keeps its time. */
  readonly isStart: boolean;
}

/** The calls of `ctx.schedule`. */
export interface ScheduleHostApi {
  setSchedule(request: SetScheduleRequest): Promise<void>;
  cancelSchedule(request: { name: string }): Promise<boolean>;
  /** Reports, after a start, which timers have a handler (`handledName`). The host removes the others and runs these from now on. */
  resumeSchedules(request: { names: readonly string[] }): Promise<void>;
}

/** The name under which a timer has a handler: its own, or the longest beginning of it that ends with `*`. */
export function handledName(names: Iterable<string>, timer: string): string | undefined {
  let found: string | undefined;
  for (const name of names) {
    if (name === timer) return name;
    const isBeginning = name.endsWith("*") && timer.startsWith(name.slice(0, -1));
    if (isBeginning && name.length > (found?.length ?? 0)) found = name;
  }
  return found;
}

/** A run that is due. `dueAt` is in epoch milliseconds. */
export interface RunRequest {
  readonly name: string;
  readonly dueAt: number;
  readonly isMissed: boolean;
}
