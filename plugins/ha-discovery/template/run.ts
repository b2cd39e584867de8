import { ExhaustedError, NestingError, type Value } from "./values.ts";

/** Limits of one rendering. A real template takes some dozens of steps. */
const MOST_STEPS = 20_000;
const LONGEST_TEXT = 65_536;
const DEEPEST = 40;
/** A step is about as much work as this many characters are. */
const CHARACTERS_PER_STEP = 64;

/** The time source of a rendering. */
export interface Clock {
  /** Seconds since 1970, with decimals. */
  readonly now: () => number;
  /** IANA; the zone of the home. */
  readonly zone: string;
}

/**
 * One rendering of one template: its variables, and how much it has used of what it may. Everything
 * that costs time or memory in proportion to the input is counted here before it is done.
 */
export class Run {
  readonly clock: Clock;
  #variables: Map<string, Value>;
  #steps = 0;
  #depth = 0;

  constructor(variables: ReadonlyMap<string, Value>, clock: Clock) {
    this.#variables = new Map(variables);
    this.clock = clock;
  }

  get(name: string): Value {
    return this.#variables.get(name);
  }

  set(name: string, value: Value): void {
    this.step();
    this.#variables.set(name, value);
  }

  /** Runs a block that sees all variables, and whose own are gone after it: a turn of a loop. */
  scoped<T>(work: () => T): T {
    const before = this.#variables;
    this.step(before.size);
    this.#variables = new Map(before);
    try {
      return work();
    } finally {
      this.#variables = before;
    }
  }

  /** @throws TemplateError when the template has done as much as one may */
  step(count = 1): void {
    this.#steps += count;
    if (this.#steps > MOST_STEPS) {
      throw new ExhaustedError(`the template takes more than ${MOST_STEPS} steps`);
    }
  }

  /** Counts a text that was made. @throws TemplateError when it is too long */
  text(text: string): string {
    this.fits(text.length);
    return text;
  }

  /** Counts a text of so many characters before it is made. @throws TemplateError when it is too long */
  fits(length: number): void {
    this.step(1 + length / CHARACTERS_PER_STEP);
    if (length > LONGEST_TEXT) {
      throw new ExhaustedError(`the template makes a text of more than ${LONGEST_TEXT} characters`);
    }
  }

  /** Counts a list that was made. */
  list<T extends readonly Value[]>(list: T): T {
    this.step(1 + list.length);
    return list;
  }

  /** Does what goes one level deeper into something nested. */
  nested<T>(work: () => T): T {
    if (++this.#depth > DEEPEST) throw new NestingError("the value");
    try {
      return work();
    } finally {
      this.#depth--;
    }
  }
}

/** Computes a value when a template is rendered. */
export type Expression = (run: Run) => Value;
