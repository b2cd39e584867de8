const NOT_REGULAR =
  "looks back or refers to a group, which takes long for some texts: write it without (?<=, (?<!, \\1 and \\k";

/** The reason why a pattern is refused; follows its name. */
export class Refused extends Error {}

/** The source of a part that matches one character, such as `[a-z]`. */
export type Atom = string;

export type Node =
  | { readonly kind: "atom"; readonly atom: Atom }
  | { readonly kind: "nothing"; readonly isStart?: true }
  | { readonly kind: "end" }
  | { readonly kind: "sequence" | "choice"; readonly parts: readonly Node[] }
  | { readonly kind: "look"; readonly part: Node }
  | { readonly kind: "repeat"; readonly part: Node; readonly least: number; readonly most: number };

const GROUP = /\(\?(?::|<[^=!>][^>]*>)/y;
const LOOK_AHEAD = /\(\?[=!]/y;
const REPEAT = /(?:([*+?])|\{(\d+)(?:(,)(\d*))?\})\??/y;
const ATOM =
  /\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\[pPu]\{[^}]*\}|\\u[0-9a-fA-F]{4}|\\x[0-9a-fA-F]{2}|\\c[A-Za-z]|\\[^]|\[(?:\\[^]|[^\]\\])*\]|[^]/uy;

/** Parses a pattern that is valid JavaScript. */
export class Parser {
  readonly #pattern: string;
  #at = 0;

  /** @throws SyntaxError */
  constructor(pattern: string) {
    this.#pattern = new RegExp(pattern, "u").source;
  }

  /** @throws Refused for constructs that are not regular in the sense of formal languages */
  parse(): Node {
    return this.#choice();
  }

  #choice(): Node {
    const parts: Node[] = [];
    do parts.push(this.#sequence());
    while (this.#take(/\|/y));
    return parts.length === 1 && parts[0] ? parts[0] : { kind: "choice", parts };
  }

  #sequence(): Node {
    const parts: Node[] = [];
    while (this.#at < this.#pattern.length && !/[|)]/.test(this.#pattern[this.#at] ?? "")) {
      parts.push(this.#repeated(this.#single()));
    }
    return { kind: "sequence", parts };
  }

  #single(): Node {
    if (this.#take(/\^/y)) return { kind: "nothing", isStart: true };
    if (this.#take(/\$/y)) return { kind: "end" };
    if (this.#take(/\\[bB]/y)) return { kind: "nothing" };
    if (this.#take(LOOK_AHEAD)) return { kind: "look", part: this.#group() };
    if (this.#take(GROUP)) return this.#group();
    if (this.#take(/\(\?|\\[1-9k]/y)) throw new Refused(NOT_REGULAR);
    if (this.#take(/\(/y)) return this.#group();
    const [atom = ""] = this.#take(ATOM) ?? [];
    return { kind: "atom", atom };
  }

  /** Parses the rest of a group. */
  #group(): Node {
    const inner = this.#choice();
    this.#take(/\)/y);
    return inner;
  }

  #repeated(part: Node): Node {
    const found = this.#take(REPEAT);
    if (!found) return part;
    const [, sign, least = "", comma, most = ""] = found;
    if (sign === "*") return { kind: "repeat", part, least: 0, most: Infinity };
    if (sign === "+") return { kind: "repeat", part, least: 1, most: Infinity };
    if (sign === "?") return { kind: "repeat", part, least: 0, most: 1 };
    const upTo = comma === undefined ? Number(least) : most === "" ? Infinity : Number(most);
    return { kind: "repeat", part, least: Number(least), most: upTo };
  }

  /** Consumes the next part if it matches; the expression is sticky. */
  #take(expression: RegExp): RegExpExecArray | undefined {
    expression.lastIndex = this.#at;
    const found = expression.exec(this.#pattern) ?? undefined;
    if (found) this.#at = expression.lastIndex;
    return found;
  }
}
