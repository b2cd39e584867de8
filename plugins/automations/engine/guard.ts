import type { Cause } from "@mantel/plugin-sdk";
import { isSame } from "./values.ts";

/** Starts of an automation by itself, directly or through others, in this time are a loop. */
const LOOP_STARTS = 8;
const LOOP_MS = 10_000;
/** Starts of one automation in the same time that are too many, whatever the cause. */
const MOST_STARTS = 300;
/** An automation in a loop does not start for this time. */
const PAUSE_MS = 60_000;
const FIGHT_TURNS = 8;
const FIGHT_MS = 60_000;
const MOST_FIELDS = 2_000;

interface Named {
  readonly id: string;
  readonly name: string;
}

interface Starts {
  readonly all: number[];
  readonly own: number[];
  pausedUntil: number;
  reason: string;
}

interface Turns {
  automation: Named;
  value: unknown;
  readonly changedAt: number[];
}

/** Two automations that set a field to different values in turns, and the sentence about them. */
export interface Fight {
  readonly automations: readonly string[];
  readonly reason: string;
}

/**
 * Recognises automations that start each other for ever, that start too often, or that set a device to different
 * values in turns.
 */
export class Guard {
  readonly #starts = new Map<string, Starts>();
  readonly #fields = new Map<string, Turns>();

  /**
   * Counts a start. Returns the reason if it must not happen; `isNew` is true for the start with which a pause begins.
   */
  start(
    automation: Named,
    cause: Cause | undefined,
    now: number,
  ): { readonly reason: string; readonly isNew: boolean } | undefined {
    const starts = this.#startsOf(automation.id);
    if (now < starts.pausedUntil) return { reason: starts.reason, isNew: false };
    const chain = automationsIn(cause);
    count(starts.all, now, LOOP_MS);
    if (chain.some(({ id }) => id === automation.id)) count(starts.own, now, LOOP_MS);
    if (starts.own.length >= LOOP_STARTS) {
      const names = [...new Map([automation, ...chain].map(({ id, name }) => [id, name])).values()];
      return this.#pause(starts, now, `${loopText(names)}: ${LOOP_STARTS} times in 10 s`);
    }
    if (starts.all.length < MOST_STARTS) return undefined;
    return this.#pause(
      starts,
      now,
      `"${automation.name}" starts too often: ${MOST_STARTS} times in 10 s`,
    );
  }

  /** The reason why an automation is paused; `undefined` if it is not. */
  pausedBy(id: string, now: number): string | undefined {
    const starts = this.#starts.get(id);
    return starts && now < starts.pausedUntil ? starts.reason : undefined;
  }

  /** Counts a value that an automation sets. Returns the fight when two of them set it in turns. */
  set(
    automation: Named,
    { key, text }: { readonly key: string; readonly text: string },
    value: unknown,
    now: number,
  ): Fight | undefined {
    const turns = this.#fields.get(key);
    this.#fields.delete(key);
    if (!turns) {
      this.#fields.set(key, { automation, value, changedAt: [] });
      const [oldest] = this.#fields.keys();
      if (this.#fields.size > MOST_FIELDS && oldest !== undefined) this.#fields.delete(oldest);
      return undefined;
    }
    this.#fields.set(key, turns);
    const previous = turns.automation;
    const isTurn = previous.id !== automation.id && !isSame(turns.value, value);
    turns.automation = automation;
    turns.value = value;
    if (!isTurn) return undefined;
    count(turns.changedAt, now, FIGHT_MS);
    if (turns.changedAt.length < FIGHT_TURNS) return undefined;
    turns.changedAt.length = 0;
    const reason = `"${previous.name}" and "${automation.name}" set ${text} to different values: ${FIGHT_TURNS} times in 60 s`;
    return { automations: [previous.id, automation.id], reason };
  }

  forget(id: string): void {
    this.#starts.delete(id);
  }

  #startsOf(id: string): Starts {
    let starts = this.#starts.get(id);
    if (!starts) {
      starts = { all: [], own: [], pausedUntil: -Infinity, reason: "" };
      this.#starts.set(id, starts);
    }
    return starts;
  }

  #pause(starts: Starts, now: number, sentence: string) {
    starts.all.length = 0;
    starts.own.length = 0;
    starts.pausedUntil = now + PAUSE_MS;
    starts.reason = `${sentence}; paused for 60 s`;
    return { reason: starts.reason, isNew: true };
  }
}

function count(times: number[], now: number, withinMs: number): void {
  times.push(now);
  while ((times[0] ?? now) <= now - withinMs) times.shift();
}

/** The automations in a chain of causes, nearest first. */
function automationsIn(cause: Cause | undefined): Named[] {
  const found: Named[] = [];
  for (let each = cause; each; each = each.parent) if (each.kind === "automation") found.push(each);
  return found;
}

function loopText([first = "", ...others]: readonly string[]): string {
  if (others.length === 0) return `"${first}" starts itself`;
  return `${[first, ...others].map((name) => `"${name}"`).join(" and ")} start each other`;
}
