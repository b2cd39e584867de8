import { RE2JS } from "re2js";
import type { Run } from "./run.ts";
import { TemplateError } from "./values.ts";

/** Starts and ends of the whole match and of each group; -1 for a group that took no part. */
export type Captures = readonly number[];

/** Characters that all instructions of an expression pass in one step of a template. */
const PER_STEP = 4;

/**
 * A regular expression in RE2's syntax, which is Python's without look-around and back-references. A search takes time
 * in proportion to the text (https://github.com/google/re2/wiki/WhyRE2).
 */
export class Regex {
  readonly groups: number;
  readonly #regex: RE2JS;
  readonly #run: Run;

  /** @throws TemplateError for unsupported syntax */
  constructor(pattern: string, ignoresCase: boolean, run: Run) {
    run.fits(pattern.length);
    this.#regex = compile(pattern, ignoresCase);
    this.groups = this.#regex.groupCount();
    this.#run = run;
  }

  /** The first match, and true when it must begin at the start. @throws TemplateError if it takes too long */
  find(text: string, isAnchored = false): Captures | undefined {
    const matcher = this.#matcher(text);
    const isFound = isAnchored ? matcher.lookingAt() : matcher.find();
    return isFound ? this.#capturesOf(matcher) : undefined;
  }

  /** All matches from left to right. @throws TemplateError if it takes too long */
  *findAll(text: string): Generator<Captures> {
    const matcher = this.#matcher(text);
    while (matcher.find()) {
      this.#run.step();
      yield this.#capturesOf(matcher);
    }
  }

  #matcher(text: string) {
    this.#run.step((text.length * this.#regex.programSize()) / PER_STEP);
    return this.#regex.matcher(text);
  }

  #capturesOf(matcher: ReturnType<RE2JS["matcher"]>): Captures {
    return Array.from({ length: this.groups + 1 }, (_, group) => [
      matcher.start(group),
      matcher.end(group),
    ]).flat();
  }
}

function compile(pattern: string, ignoresCase: boolean): RE2JS {
  try {
    return RE2JS.compile(asRe2(pattern), ignoresCase ? RE2JS.CASE_INSENSITIVE : 0);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new TemplateError(`a regular expression cannot be used: ${reason.slice(0, 200)}`);
  }
}

/** Python's `\Z` is `\z` in RE2. */
const asRe2 = (pattern: string): string =>
  pattern.replace(/\\./gs, (escape) => (escape === "\\Z" ? "\\z" : escape));
