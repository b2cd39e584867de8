import { type Instruction, parseRegex } from "./regex-parser.ts";
import type { Run } from "./run.ts";

/** Starts and ends of the whole match and of each group; -1 for a group that took no part. */
export type Captures = readonly number[];

/** A thread of the search: the next instruction, and the captures so far. */
interface Thread {
  readonly at: number;
  readonly captures: Captures;
}

/** Instructions that cost as much as one step of a template. */
const PER_STEP = 4;

/**
 * A regular expression in Python's syntax. A search takes time in proportion to the text: it follows all
 * alternatives at once (Thompson's construction) instead of trying one after the other.
 */
export class Regex {
  readonly groups: number;
  readonly #program: readonly Instruction[];
  readonly #run: Run;

  /** @throws TemplateError for unsupported syntax */
  constructor(pattern: string, ignoresCase: boolean, run: Run) {
    run.fits(pattern.length);
    const { program, groups } = parseRegex(pattern, ignoresCase);
    this.#program = program;
    this.groups = groups;
    this.#run = run;
  }

  /** The first match, and true when it must begin at the start. @throws TemplateError if it takes too long */
  find(text: string, isAnchored = false): Captures | undefined {
    return this.#find(text, { from: 0, endsFrom: 0, isAnchored });
  }

  /** All matches from left to right, as Python finds them: after an empty one comes one that is longer or later. */
  *findAll(text: string): Generator<Captures> {
    let [from, endsFrom] = [0, 0];
    while (from <= text.length) {
      const found = this.#find(text, { from, endsFrom, isAnchored: false });
      if (!found) return;
      yield found;
      const [start = 0, end = 0] = found;
      [from, endsFrom] = [end, end > start ? end : end + 1];
    }
  }

  #find(text: string, { from, endsFrom, isAnchored }: Range): Captures | undefined {
    let found: Captures | undefined;
    let threads: Thread[] = [];
    for (let at = from; at <= text.length; at++) {
      const seen = new Set<number>();
      const current: Thread[] = [];
      for (const thread of threads) this.#follow(thread, { text, at, seen, to: current });
      if (!found && (at === from || !isAnchored)) {
        const captures = Array.from({ length: 2 * (this.groups + 1) }, () => -1);
        this.#follow({ at: 0, captures }, { text, at, seen, to: current });
      }
      this.#run.step((1 + seen.size) / PER_STEP);
      threads = [];
      for (const { at: index, captures } of current) {
        const instruction = this.#program[index];
        if (instruction?.kind === "match") {
          if (at < endsFrom) continue;
          found = captures;
          break; // what follows has a lower priority
        }
        if (instruction?.kind !== "one" || at >= text.length) continue;
        if (instruction.takes(text.charAt(at))) threads.push({ at: index + 1, captures });
      }
      if (threads.length === 0 && (found || isAnchored)) break;
    }
    return found;
  }

  /** Adds the threads that a thread becomes without taking a character, in the order of their priority. */
  #follow(first: Thread, { text, at, seen, to }: Position): void {
    const waiting = [first];
    for (let thread = waiting.pop(); thread; thread = waiting.pop()) {
      const { at: index, captures } = thread;
      const instruction = this.#program[index];
      if (!instruction || seen.has(index)) continue;
      seen.add(index);
      if (instruction.kind === "split") {
        waiting.push({ at: instruction.second, captures }, { at: instruction.first, captures });
      } else if (instruction.kind === "save") {
        waiting.push({ at: index + 1, captures: captures.with(instruction.slot, at) });
      } else if (instruction.kind === "assert") {
        if (instruction.holds(text, at)) waiting.push({ at: index + 1, captures });
      } else to.push(thread);
    }
  }
}

/** The part of a text in which a match may begin and end. */
interface Range {
  readonly from: number;
  readonly endsFrom: number;
  /** True when a match must begin at `from`. */
  readonly isAnchored: boolean;
}

interface Position {
  readonly text: string;
  readonly at: number;
  /** The instructions that are already followed at this position. */
  readonly seen: Set<number>;
  readonly to: Thread[];
}
