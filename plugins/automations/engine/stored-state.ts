import type { JournalEntry, RunHead, StoredRun } from "./journal.ts";
import type { Queued } from "./state-store.ts";
import type { StoredUndo } from "./undos.ts";
import { isRecord } from "./values.ts";
import type { StoredWatch } from "./watch.ts";

/** The content of a store at a start. */
export interface StoredState {
  readonly runs: readonly StoredRun[];
  readonly queues: Map<string, readonly Queued[]>;
  readonly undos: readonly StoredUndo[];
  /** By the keys of triggers. */
  readonly watches: Map<string, StoredWatch>;
  readonly variables: readonly { readonly owner: string; readonly name: string; value: unknown }[];
  /** The instants until which automations are switched off, by their ids. */
  readonly off: Map<string, number>;
  readonly pausedUntil: number | undefined;
}

/** Reads a store. What it does not know, such as entries of a newer version, is left out. */
export function readState(store: Iterable<[string, unknown]>): StoredState {
  const heads: RunHead[] = [];
  const steps = new Map<string, JournalEntry[]>();
  const undos: StoredUndo[] = [];
  const variables: { owner: string; name: string; value: unknown }[] = [];
  const queues = new Map<string, readonly Queued[]>();
  const watches = new Map<string, StoredWatch>();
  const off = new Map<string, number>();
  let pausedUntil: number | undefined;
  const take: Readonly<Record<string, (rest: string, value: unknown) => void>> = {
    run: (_, value) => isHead(value) && heads.push(value),
    step: (rest, value) => isRecord(value) && addStep(steps, rest, value as never),
    queue: (rest, value) => Array.isArray(value) && queues.set(rest, value as Queued[]),
    undo: (_, value) => isRecord(value) && undos.push(value as never),
    watch: (rest, value) => isRecord(value) && watches.set(rest, value),
    variable(rest, value) {
      const [owner = "", name = ""] = rest.split("\n");
      variables.push({ owner, name, value });
    },
    off: (rest, value) => typeof value === "number" && off.set(rest, value),
    paused: (_, value) => void (pausedUntil = typeof value === "number" ? value : undefined),
  };
  for (const [key, value] of store) {
    const [kind = ""] = key.split(" ", 1);
    if (Object.hasOwn(take, kind)) take[kind]?.(key.slice(kind.length + 1), value);
  }
  const runs = heads.map((head) => ({ ...head, journal: (steps.get(head.id) ?? []).flat() }));
  return { runs, queues, undos, watches, variables, off, pausedUntil };
}

function isHead(value: unknown): value is RunHead {
  return isRecord(value) && typeof value["id"] === "string" && isRecord(value["trigger"]);
}

function addStep(steps: Map<string, JournalEntry[]>, rest: string, entry: JournalEntry): void {
  const [run = "", place = ""] = rest.split(" ");
  const journal = steps.get(run) ?? [];
  journal[Number(place)] = entry;
  steps.set(run, journal);
}
