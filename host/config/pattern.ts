import type { Fault } from "@mantel/plugin-sdk/errors";
import { pointerToken } from "@mantel/plugin-sdk/validation-errors";
import { type Atom, type Node, Parser, Refused } from "./pattern-parser.ts";

const SHOWN_LENGTH = 60;
/** The most characters of a pattern. */
const LONGEST = 1_000;
/** The most positions in a pattern that match a character, after its repeats are expanded. */
const MOST_PLACES = 500;
/** The most paths that a backtracking matcher may have tried when it fails, for each character of the text. */
const MOST_WAYS = 100;
/** The most work for all patterns of one schema, in steps of about 20 ns. */
const MOST_WORK = 300_000;

/** Patterns that were found fast. A reload brings the same ones again, and a check takes milliseconds. */
const fast = new Set<string>();
const MOST_KNOWN = 1_000;

const AMBIGUOUS =
  "can match in too many ways, which takes long for some texts: begin it with ^, and let nothing that " +
  "repeats hold or meet another repeat of the same characters, such as ^[a-z]+(-[a-z]+)*$ for ^([a-z]+-?)*$";
const TOO_LARGE = `is too large: use at most ${LONGEST} characters and small repeat counts, or maxLength`;

/** The number of paths to each position, by its number. */
type Ways = Map<number, number>;

/** A part of a pattern as its first and last positions (Glushkov), each with the number of paths. */
interface Fragment {
  readonly first: Ways;
  readonly last: Ways;
  /** The number of ways in which it matches the empty text. */
  readonly empty: number;
}

/**
 * Accepts patterns that match any text in time linear in its length: those whose
 * matcher never follows more than a fixed number of paths (decision 31). Others take quadratic or exponential
 * time. One checker checks the patterns of one schema, within limits.
 */
export class PatternChecker {
  readonly #faults = new Map<string, string | undefined>();
  #workLeft = MOST_WORK;

  /** The fault of a pattern, which follows its name; `undefined` if it is fast for any text. */
  faultOf(pattern: string): string | undefined {
    if (fast.has(pattern)) return undefined;
    if (!this.#faults.has(pattern)) this.#faults.set(pattern, this.#find(pattern));
    const fault = this.#faults.get(pattern);
    if (fault === undefined && fast.size < MOST_KNOWN) fast.add(pattern);
    return fault;
  }

  #find(pattern: string): string | undefined {
    try {
      if (pattern.length > LONGEST) throw new Refused(TOO_LARGE);
      const root = new Parser(pattern).parse();
      this.#requireFewWays(new Automaton(root), isAnchored(root));
      return undefined;
    } catch (error) {
      if (error instanceof Refused) return error.message;
      if (error instanceof SyntaxError) return `is not a regular expression: ${error.message}`;
      throw error;
    }
  }

  /** Explores all states that any text can lead to: the number of paths, and their positions. */
  #requireFewWays(automaton: Automaton, isAnchoredAtStart: boolean): void {
    const letters = lettersOf(automaton.atoms);
    const start: Ways = new Map([[0, 1]]);
    const seen = new Set<string>();
    const waiting = [start];
    for (let ways = waiting.pop(); ways; ways = waiting.pop()) {
      const key = [...ways].toSorted(([a], [b]) => a - b).join(" ");
      if (seen.has(key)) continue;
      seen.add(key);
      this.#workLeft -= ways.size;
      for (const letter of letters) {
        const next = this.#follow(ways, letter, automaton);
        if (!isAnchoredAtStart) add(next, 0, 1);
        if (sum(next) > MOST_WAYS) throw new Refused(AMBIGUOUS);
        if (next.size > 0) waiting.push(next);
      }
    }
  }

  /** The paths of a matcher after one more character. */
  #follow(ways: Ways, letter: ReadonlySet<Atom>, { follow, atoms }: Automaton): Ways {
    const next: Ways = new Map();
    for (const [place, count] of ways) {
      const following = follow[place] ?? new Map<number, number>();
      this.#workLeft -= following.size + 1;
      for (const [to, times] of following) {
        if (letter.has(atoms[to] ?? "")) add(next, to, count * times);
      }
    }
    if (this.#workLeft < 0) throw new Refused(TOO_LARGE);
    return next;
  }
}

function add(ways: Ways, place: number, count: number): void {
  ways.set(place, (ways.get(place) ?? 0) + count);
}

function sum(ways: Ways): number {
  let all = 0;
  for (const count of ways.values()) all += count;
  return all;
}

/** True if a match can only begin at the start of a text. */
function isAnchored(node: Node): boolean {
  switch (node.kind) {
    case "nothing":
      return node.isStart === true;
    case "sequence":
      return isAnchored(node.parts.find((part) => part.kind !== "look") ?? { kind: "nothing" });
    case "choice":
      return node.parts.every(isAnchored);
    default:
      return false;
  }
}

/** The positions of a pattern, and their successors. Position 0 is before the text. */
class Automaton {
  readonly atoms: Atom[] = [""];
  readonly follow: Ways[] = [new Map()];
  #built = 0;

  constructor(root: Node) {
    this.follow[0] = this.#build(root).first;
  }

  #build(node: Node): Fragment {
    if (++this.#built > 10 * MOST_PLACES) throw new Refused(TOO_LARGE);
    switch (node.kind) {
      case "nothing":
        return NOTHING;
      case "end": // no character follows it
        return { first: new Map(), last: new Map(), empty: 0 };
      case "atom":
        return this.#place(node.atom);
      case "sequence":
        return node.parts.reduce(
          (before: Fragment, part) => this.#join(before, this.#build(part)),
          NOTHING,
        );
      case "choice":
        return node.parts.map((part) => this.#build(part)).reduce(either);
      case "look": // its matcher reads ahead, and then returns to the same position
        return { first: this.#build(node.part).first, last: new Map(), empty: 1 };
      case "repeat":
        return this.#repeat(node);
    }
  }

  #place(atom: Atom): Fragment {
    const place = this.atoms.push(atom) - 1;
    if (place > MOST_PLACES) throw new Refused(TOO_LARGE);
    this.follow.push(new Map());
    return { first: new Map([[place, 1]]), last: new Map([[place, 1]]), empty: 0 };
  }

  #join(before: Fragment, after: Fragment): Fragment {
    this.#link(before.last, after.first);
    return {
      first: both(before.first, after.first, before.empty),
      last: both(after.last, before.last, after.empty),
      empty: before.empty * after.empty,
    };
  }

  #link(last: Ways, first: Ways): void {
    for (const [from, count] of last) {
      const following = this.follow[from] ?? new Map<number, number>();
      for (const [to, times] of first) add(following, to, count * times);
    }
  }

  /**
   * Expands a repeat as matchers do: the required parts in sequence, then the optional ones nested in each other.
   */
  #repeat({ part, least, most }: Extract<Node, { kind: "repeat" }>): Fragment {
    let repeated = NOTHING;
    for (let count = 0; count < least; count++) repeated = this.#join(repeated, this.#build(part));
    if (most !== Infinity) return this.#join(repeated, this.#optional(part, most - least));
    const again = this.#build(part);
    this.#link(again.last, again.first);
    return this.#join(repeated, { ...again, empty: 1 + again.empty });
  }

  #optional(part: Node, most: number): Fragment {
    let inner = NOTHING;
    for (let count = 0; count < most; count++) {
      const joined = this.#join(this.#build(part), inner);
      inner = { ...joined, empty: 1 + joined.empty };
    }
    return inner;
  }
}

const NOTHING: Fragment = { first: new Map(), last: new Map(), empty: 1 };

function either(one: Fragment, other: Fragment): Fragment {
  return {
    first: both(one.first, other.first, 1),
    last: both(one.last, other.last, 1),
    empty: one.empty + other.empty,
  };
}

/** The paths of `one`, plus `times` those of `other`. */
function both(one: Ways, other: Ways, times: number): Ways {
  const ways = new Map(one);
  if (times > 0) for (const [place, count] of other) add(ways, place, count * times);
  return ways;
}

/** Characters at which the sets of \d, \w, \s and of a dot begin or end. */
const EDGES =
  "\t\n\v\f\r\u000e !/09:@AZ[^_`az{~\u0085\u00a0\u00a1\u167f\u1680\u1681\u1fff\u2000\u200a\u200b\u2027\u2028\u2029\u202a\u202e\u202f\u2030\u205e\u205f\u2060\u2fff\u3000\u3001\ufefe\ufeff\uffff\u{10000}";
const LAST_CHARACTER = 0x10ffff;
/** A Unicode set is examined up to here, which takes 2 ms; beyond, it counts as containing everything. */
const LOOKED_AT = 0x10000;
const SURROGATES = [0xd800, 0xdfff] as const;
const MOST_TABLES = 8;
const IS_OF_TABLES = /\\p/i;

/** All combinations of atoms that one character can match. */
function lettersOf(atoms: readonly Atom[]): ReadonlySet<Atom>[] {
  const distinct = [...new Set(atoms.slice(1))];
  const edges = new Set<number>(Array.from(EDGES).flatMap(besides));
  let tables = 0;
  for (const atom of distinct) {
    const isOfTables = IS_OF_TABLES.test(atom);
    if (isOfTables && ++tables > MOST_TABLES) throw new Refused(TOO_LARGE);
    for (const edge of isOfTables ? edgesOfTable(atom) : charactersIn(atom).flatMap(besides))
      edges.add(edge);
  }
  const matchers = distinct.map((atom) => {
    const matcher = new RegExp(`^${atom}$`, "u");
    const isOfTables = IS_OF_TABLES.test(atom);
    return [
      atom,
      (code: number) =>
        (isOfTables && code >= LOOKED_AT) || matcher.test(String.fromCodePoint(code)),
    ] as const;
  });
  const letters = new Map<string, ReadonlySet<Atom>>();
  for (const edge of edges) {
    const matching = matchers.flatMap(([atom, isMatch]) => (isMatch(edge) ? [atom] : []));
    if (matching.length > 0) letters.set(matching.join("\n"), new Set(matching));
  }
  return [...letters.values()];
}

/** The first character of a text and its neighbours. */
function besides(text: string): number[] {
  const code = text.codePointAt(0) ?? 0;
  return [code - 1, code, code + 1].filter((each) => each >= 0 && each <= LAST_CHARACTER);
}

/** The characters that an atom names, also as escapes. Sets begin and end only beside these and at the edges. */
function charactersIn(atom: Atom): string[] {
  const named = atom.matchAll(
    /\\u\{([0-9a-f]+)\}|\\u([0-9a-f]{4})|\\x([0-9a-f]{2})|\\c([a-z])|\\([0tnvfr])/gi,
  );
  const escaped = [...named].map(([, braced, four, two, control, short]) => {
    const hex = braced ?? four ?? two;
    if (hex !== undefined) return String.fromCodePoint(Number.parseInt(hex, 16));
    if (control !== undefined) return String.fromCodePoint(control.charCodeAt(0) % 32);
    return SHORT[short ?? ""] ?? "\0";
  });
  return [...Array.from(atom), ...escaped, ...pairsIn(atom)];
}

const SHORT: Readonly<Record<string, string>> = {
  t: "\t",
  n: "\n",
  v: "\v",
  f: "\f",
  r: "\r",
  "0": "\0",
};

/** Characters written as two escapes. */
function pairsIn(atom: Atom): string[] {
  const pairs = atom.matchAll(/\\u(d[89ab][0-9a-f]{2})\\u(d[c-f][0-9a-f]{2})/gi);
  return [...pairs].map(([, high = "", low = ""]) =>
    String.fromCharCode(Number.parseInt(high, 16), Number.parseInt(low, 16)),
  );
}

let charactersLookedAt: string | undefined;

/** The first and last characters of an atom's set, found by testing characters. */
function edgesOfTable(atom: Atom): number[] {
  charactersLookedAt ??= Array.from({ length: LOOKED_AT }, (_, code) =>
    code < SURROGATES[0] || code > SURROGATES[1] ? String.fromCharCode(code) : "",
  ).join("");
  return [...charactersLookedAt.matchAll(new RegExp(`(?:${atom})+`, "gu"))].flatMap(([run]) => [
    ...besides(run),
    ...besides(run.slice(-1)),
  ]);
}

/** The faults of all patterns in a schema from a plugin's process. */
export function patternFaults(schema: unknown): Fault[] {
  const checker = new PatternChecker();
  return [...patternsIn(schema, "")].flatMap(({ pattern, pointer }) => {
    const fault = checker.faultOf(pattern);
    return fault === undefined ? [] : [{ pointer, detail: `${shown(pattern)} ${fault}` }];
  });
}

interface Place {
  readonly pattern: string;
  readonly pointer: string;
}

/** Also patterns outside of schemas, such as in a default: a reference may turn it into a schema. */
function* patternsIn(schema: unknown, pointer: string): Generator<Place> {
  if (typeof schema !== "object" || schema === null) return;
  for (const [key, value] of Object.entries(schema)) {
    const place = `${pointer}/${pointerToken(key)}`;
    if (key === "pattern" && typeof value === "string") yield { pattern: value, pointer: place };
    const isNamed = key === "patternProperties" && typeof value === "object" && value !== null;
    for (const pattern of isNamed ? Object.keys(value as object) : []) {
      yield { pattern, pointer: `${place}/${pointerToken(pattern.slice(0, SHOWN_LENGTH))}` };
    }
    yield* patternsIn(value, place);
  }
}

function shown(pattern: string): string {
  return pattern.length > SHOWN_LENGTH ? `${pattern.slice(0, SHOWN_LENGTH)}…` : pattern;
}
