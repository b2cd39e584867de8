import { TemplateError } from "./values.ts";

/** One instruction of a compiled regular expression. */
export type Instruction =
  | { readonly kind: "one"; readonly takes: (character: string) => boolean }
  | { readonly kind: "split"; readonly first: number; readonly second: number }
  | { readonly kind: "save"; readonly slot: number }
  | { readonly kind: "assert"; readonly holds: (text: string, at: number) => boolean }
  | { readonly kind: "match" };

/** Repetitions such as `{500}` are written out. */
const MOST_INSTRUCTIONS = 1_000;
const DEEPEST = 30;

type Takes = (character: string) => boolean;

const isWord: Takes = (character) => /^\w$/.test(character);
const CLASSES: Readonly<Record<string, Takes>> = {
  d: (character) => character >= "0" && character <= "9",
  s: (character) => /^\s$/.test(character),
  w: isWord,
};
const CONTROLS: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t", f: "\f", v: "\v" };

const isBoundary = (text: string, at: number) =>
  isWord(text.charAt(at - 1)) !== isWord(text.charAt(at));
const isAtEnd = (text: string, at: number) =>
  at === text.length || (at === text.length - 1 && text[at] === "\n");

const ASSERTIONS: Readonly<Record<string, (text: string, at: number) => boolean>> = {
  A: (_, at) => at === 0,
  Z: (text, at) => at === text.length,
  b: isBoundary,
  B: (text, at) => !isBoundary(text, at),
};

/** Compiles a pattern in Python's syntax. @throws TemplateError for what is not supported */
export function parseRegex(pattern: string, ignoresCase: boolean) {
  const parser = new Parser(pattern, ignoresCase);
  const body = parser.alternatives();
  if (!parser.isAtEnd) throw new TemplateError("a regular expression has a ) too many");
  const program = fitting([save(0), ...body, save(1), { kind: "match" }]);
  return { program: absolute(program), groups: parser.groups };
}

const save = (slot: number): Instruction => ({ kind: "save", slot });

/** A split whose targets are relative to itself, until the whole program is there. */
const split = (first: number, second: number): Instruction => ({ kind: "split", first, second });

function absolute(program: readonly Instruction[]): Instruction[] {
  return program.map((each, at) =>
    each.kind === "split" ? split(at + each.first, at + each.second) : each,
  );
}

function fitting(program: Instruction[]): Instruction[] {
  if (program.length <= MOST_INSTRUCTIONS) return program;
  throw new TemplateError("a regular expression is too long");
}

class Parser {
  groups = 0;
  readonly #pattern: string;
  readonly #ignoresCase: boolean;
  #at = 0;
  #depth = 0;

  constructor(pattern: string, ignoresCase: boolean) {
    const flag = pattern.startsWith("(?i)");
    this.#pattern = flag ? pattern.slice(4) : pattern;
    this.#ignoresCase = ignoresCase || flag;
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#pattern.length;
  }

  alternatives(): Instruction[] {
    const first = this.#sequence();
    if (!this.#takes("|")) return first;
    const rest = this.alternatives();
    return fitting([split(1, first.length + 2), ...first, jump(rest.length + 1), ...rest]);
  }

  #sequence(): Instruction[] {
    const all: Instruction[] = [];
    while (!this.isAtEnd && !"|)".includes(this.#peek())) {
      for (const each of this.#repeated()) all.push(each);
      fitting(all);
    }
    return all;
  }

  #repeated(): Instruction[] {
    const body = this.#atom();
    const times = this.#times();
    if (!times) return body;
    const isLazy = this.#takes("?");
    if (this.#peek() === "+" || this.#times()) {
      throw new TemplateError("a regular expression repeats a repetition");
    }
    return repeat(body, times, isLazy);
  }

  #times(): Times | undefined {
    if (this.#takes("*")) return { least: 0, most: Infinity };
    if (this.#takes("+")) return { least: 1, most: Infinity };
    if (this.#takes("?")) return { least: 0, most: 1 };
    const counted = /^\{(\d{0,4})(,?)(\d{0,4})\}/.exec(
      this.#pattern.slice(this.#at, this.#at + 12),
    );
    if (!counted || counted[0] === "{}" || counted[0] === "{,}") return undefined;
    this.#at += counted[0].length;
    const [, low = "", comma = "", high = ""] = counted;
    const least = Number(low);
    if (comma === "") return { least, most: least };
    return { least, most: high === "" ? Infinity : Number(high) };
  }

  #atom(): Instruction[] {
    const character = this.#next();
    if (character === "(") return this.#group();
    if (character === "[") return [this.#set()];
    if (character === ".") return [this.#one((each) => each !== "\n")];
    if (character === "^") return [{ kind: "assert", holds: (_, at) => at === 0 }];
    if (character === "$") return [{ kind: "assert", holds: isAtEnd }];
    if (character === "\\") return [this.#escaped()];
    if ("*+?".includes(character)) {
      throw new TemplateError(`a regular expression has nothing before ${character}`);
    }
    return [this.#literal(character)];
  }

  #group(): Instruction[] {
    if (++this.#depth > DEEPEST)
      throw new TemplateError("a regular expression is nested too deeply");
    const slot = this.#groupSlot();
    const body = this.alternatives();
    if (!this.#takes(")")) throw new TemplateError("a regular expression has a ( too many");
    this.#depth--;
    return slot === undefined ? body : [save(2 * slot), ...body, save(2 * slot + 1)];
  }

  /** The number of a group that captures. @throws TemplateError for look-around and the like */
  #groupSlot(): number | undefined {
    if (!this.#takes("?")) return ++this.groups;
    if (this.#takes(":")) return undefined;
    const name = /^P<\w+>/.exec(this.#pattern.slice(this.#at, this.#at + 60));
    if (!name) throw new TemplateError("a regular expression looks around or has flags");
    this.#at += name[0].length;
    return ++this.groups;
  }

  #escaped(): Instruction {
    const character = this.#next();
    const holds = Object.hasOwn(ASSERTIONS, character) ? ASSERTIONS[character] : undefined;
    if (holds) return { kind: "assert", holds };
    const known = classNamed(character);
    return known ? this.#one(known) : this.#literal(unescaped(character));
  }

  /** The characters between `[` and `]`; a `]` that comes first is one of them. */
  #set(): Instruction {
    const isNegated = this.#takes("^");
    const members: Takes[] = [];
    for (let isFirst = true; isFirst || this.#peek() !== "]"; isFirst = false) {
      members.push(this.#member());
    }
    this.#next();
    const { takes } = this.#one((character) => members.some((each) => each(character)));
    return { kind: "one", takes: (character) => takes(character) !== isNegated };
  }

  #member(): Takes {
    const character = this.#next();
    const known = character === "\\" ? classNamed(this.#peek()) : undefined;
    if (known) {
      this.#next();
      return known;
    }
    const from = character === "\\" ? unescaped(this.#next()) : character;
    const isRange = this.#peek() === "-" && !"]".includes(this.#pattern.charAt(this.#at + 1));
    if (!isRange) return (each) => each === from;
    this.#next();
    const end = this.#next();
    const to = end === "\\" ? unescaped(this.#next()) : end;
    if (to < from) throw new TemplateError("a regular expression has a range from back to front");
    return (each) => each >= from && each <= to;
  }

  #literal(character: string): Instruction {
    return this.#one((each) => each === character);
  }

  #one(takes: Takes): Extract<Instruction, { kind: "one" }> {
    if (!this.#ignoresCase) return { kind: "one", takes };
    return { kind: "one", takes: (each) => takes(each.toLowerCase()) || takes(each.toUpperCase()) };
  }

  #peek(): string {
    return this.#pattern.charAt(this.#at);
  }

  #takes(character: string): boolean {
    if (this.#peek() !== character || this.isAtEnd) return false;
    this.#at++;
    return true;
  }

  #next(): string {
    if (this.isAtEnd) throw new TemplateError("a regular expression ends too early");
    return this.#pattern.charAt(this.#at++);
  }
}

const jump = (by: number) => split(by, by);

interface Times {
  readonly least: number;
  readonly most: number;
}

function repeat(body: readonly Instruction[], { least, most }: Times, isLazy: boolean) {
  if (most < least)
    throw new TemplateError("a regular expression repeats at most less than at least");
  const all: Instruction[] = [];
  const either = (on: number, past: number) => (isLazy ? split(past, on) : split(on, past));
  const length = body.length;
  const copies = most === Infinity ? least + 1 : most;
  if (copies * (length + 1) > MOST_INSTRUCTIONS) {
    throw new TemplateError("a regular expression is too long");
  }
  for (let count = 0; count < least; count++) all.push(...body);
  if (most === Infinity) all.push(either(1, length + 2), ...body, jump(-length - 1));
  for (let left = most === Infinity ? 0 : most - least; left > 0; left--) {
    all.push(either(1, left * (length + 1)), ...body);
  }
  return all;
}

function classNamed(character: string): Takes | undefined {
  const name = character.toLowerCase();
  const takes = Object.hasOwn(CLASSES, name) ? CLASSES[name] : undefined;
  return takes && name !== character ? (each) => !takes(each) : takes;
}

/** @throws TemplateError for escapes that are not known, such as references to a group */
function unescaped(character: string): string {
  if (Object.hasOwn(CONTROLS, character)) return CONTROLS[character] ?? "";
  if (!/[A-Za-z0-9]/.test(character)) return character;
  throw new TemplateError(`a regular expression has an unknown escape \\${character}`);
}
