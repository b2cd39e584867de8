import type { ActiveRun } from "./active-run.ts";
import type { Trace, TracedAction } from "./automation.ts";
import type { JournalEntry, RunEnd, StoredRun } from "./journal.ts";

/** Traces that are kept of each automation. */
const KEPT = 20;
/** Of them at most so many whose conditions were not met, which may be frequent. */
const KEPT_STOPPED = 10;

/** The trace of a run as it is now. */
export function traceOf(run: ActiveRun): Trace {
  const { id, automation, name, startedAt, trigger, conditions, journal, end, later } = run;
  const actions = [...journal.map((entry, place) => tracedAction(entry, place)), ...later];
  return toTrace({ id, automation, name, startedAt, trigger, conditions }, actions, end);
}

/** The trace of a trigger whose conditions were not met. */
export function stoppedTrace(
  run: Omit<StoredRun, "kept" | "journal">,
  at: number,
  error?: string,
): Trace {
  return toTrace(run, [], { result: "stopped", at, ...(error !== undefined && { error }) });
}

function toTrace(
  { id, automation, name, startedAt, trigger, conditions }: Omit<StoredRun, "kept" | "journal">,
  actions: readonly TracedAction[],
  end: (RunEnd & { readonly at: number }) | undefined,
): Trace {
  const { index, at, ...event } = trigger;
  return {
    id,
    automation,
    name,
    startedAt: isoOf(startedAt),
    endedAt: end ? isoOf(end.at) : null,
    trigger: { index, event: { ...event, at: isoOf(at) } },
    conditions,
    actions,
    result: end?.result ?? "running",
    ...(end?.error !== undefined && { error: end.error }),
  };
}

/** Actions of code have no index; theirs is the place among the steps. */
function tracedAction(
  { at, type, request, conditions, startedAt, endedAt, result }: JournalEntry,
  place: number,
): TracedAction {
  const index = Number.parseInt(at, 10);
  return {
    index: Number.isNaN(index) ? place : index,
    at,
    type,
    ...(request && { request }),
    ...(conditions && { conditions }),
    result: result?.result ?? "running",
    startedAt: isoOf(startedAt),
    endedAt: endedAt === undefined ? null : isoOf(endedAt),
    ...(result?.value !== undefined && { value: result.value }),
    ...(result?.error !== undefined && { error: result.error }),
  };
}

export const isoOf = (instant: number) => new Date(instant).toISOString();

/** The last traces of each automation, newest first. */
export class Traces {
  readonly #byAutomation = new Map<string, Trace[]>();

  /** Adds a trace, or replaces that of the same run. */
  put(trace: Trace): void {
    const kept = this.#byAutomation.get(trace.automation) ?? [];
    const known = kept.findIndex(({ id }) => id === trace.id);
    if (known >= 0) return void (kept[known] = trace);
    kept.unshift(trace);
    const stopped = kept.filter(({ result }) => result === "stopped");
    const surplus =
      stopped.length > KEPT_STOPPED ? stopped.at(-1) : kept.length > KEPT ? kept.at(-1) : undefined;
    if (surplus) kept.splice(kept.indexOf(surplus), 1);
    this.#byAutomation.set(trace.automation, kept);
  }

  of(automation: string): readonly Trace[] {
    return this.#byAutomation.get(automation) ?? [];
  }

  find(automation: string, id: string): Trace | undefined {
    return this.of(automation).find((trace) => trace.id === id);
  }

  forget(automation: string): void {
    this.#byAutomation.delete(automation);
  }

  all(): Record<string, readonly Trace[]> {
    return Object.fromEntries(this.#byAutomation);
  }

  restore(traces: Readonly<Record<string, readonly Trace[]>>): void {
    for (const [automation, kept] of Object.entries(traces)) {
      this.#byAutomation.set(automation, kept.slice(0, KEPT));
    }
  }
}
