/** A value of a message: a text, a number, or a choice such as true. */
export type MessageValue = string | number | boolean | undefined;

/** An argument of a message: `{0}`, `{0, plural, one {…} other {…}}` or `{name, select, …}`. */
interface Argument {
  readonly name: string;
  readonly type: "text" | "number" | "plural" | "select";
  readonly choices: ReadonlyMap<string, Message>;
}

/** A parsed message; `#` in it stands for the number of the plural around it. */
export type Message = readonly (string | Argument)[];

/** Messages nest as deep as a plural in a select in a plural. */
const DEEPEST = 4;
const NAME = /^\w{1,50}$/;
const CHOICE = /^(=\d{1,6}|[\w-]{1,50})$/;
const parsed = new Map<string, Message>();

/**
 * Parses a text in a subset of ICU MessageFormat: `{name}`, `{name, number}`, `plural` with `=1`
 * and the categories of Intl.PluralRules, and `select`, whose choice `empty` is for an empty text.
 * Braces around anything else than an argument are text.
 * @throws SyntaxError
 */
export function parseMessage(text: string): Message {
  const known = parsed.get(text);
  if (known) return known;
  const message = new Parser(text).message(0);
  parsed.set(text, message);
  return message;
}

/** Fills the values into a message, with the plurals and numbers of the locale (BCP 47). */
export function formatMessage(
  message: Message,
  valueOf: (name: string) => MessageValue,
  locale: string,
): string {
  const write = (parts: Message, count: number): string =>
    parts
      .map((part) => {
        if (typeof part === "string") return part.replaceAll("#", () => numbers(locale)(count));
        const value = valueOf(part.name);
        switch (part.type) {
          case "text":
            return value === undefined ? `{${part.name}}` : String(value);
          case "number":
            return numbers(locale)(Number(value));
          case "plural":
            return write(pluralChoice(part, Number(value), locale), Number(value));
          case "select":
            return write(selectChoice(part, value), count);
        }
      })
      .join("");
  return write(message, Number.NaN);
}

/** The names of all arguments of a message. */
export function argumentsOf(message: Message): ReadonlySet<string> {
  const names = new Set<string>();
  const visit = (parts: Message): void => {
    for (const part of parts) {
      if (typeof part === "string") continue;
      names.add(part.name);
      for (const choice of part.choices.values()) visit(choice);
    }
  };
  visit(message);
  return names;
}

function pluralChoice({ choices }: Argument, count: number, locale: string): Message {
  const category = new Intl.PluralRules(locale).select(count);
  return choices.get(`=${count}`) ?? choices.get(category) ?? choices.get("other") ?? [];
}

function selectChoice({ choices }: Argument, value: MessageValue): Message {
  const isEmpty = value === undefined || value === "";
  return choices.get(isEmpty ? "empty" : String(value)) ?? choices.get("other") ?? [];
}

function numbers(locale: string): (value: number) => string {
  return (value) => (Number.isNaN(value) ? "#" : new Intl.NumberFormat(locale).format(value));
}

class Parser {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  message(depth: number): Message {
    if (depth > DEEPEST) throw new SyntaxError("too many braces inside each other");
    const parts: (string | Argument)[] = [];
    let start = this.#at;
    while (this.#at < this.#text.length) {
      const letter = this.#text[this.#at];
      if (letter === "}" && depth > 0) break;
      const argument = letter === "{" ? this.#argument(depth) : undefined;
      if (argument) {
        parts.push(this.#text.slice(start, argument.from), argument.argument);
        start = this.#at;
      } else this.#at++;
    }
    parts.push(this.#text.slice(start, this.#at));
    return parts.filter((part) => part !== "");
  }

  /** The argument that begins here; `undefined`, without moving on, if the brace is text. */
  #argument(depth: number): { from: number; argument: Argument } | undefined {
    const from = this.#at;
    const end = this.#text.slice(from).search(/[,}]/);
    const name = end < 0 ? "" : this.#text.slice(from + 1, from + end).trim();
    if (!NAME.test(name)) return undefined;
    this.#at = from + end;
    if (this.#take("}")) return { from, argument: { name, type: "text", choices: new Map() } };
    this.#expect(",");
    const type = this.#word();
    if (type === "number") {
      this.#expect("}");
      return { from, argument: { name, type, choices: new Map() } };
    }
    if (type !== "plural" && type !== "select") throw new SyntaxError(`unknown form “${type}”`);
    this.#expect(",");
    return { from, argument: { name, type, choices: this.#choices(depth) } };
  }

  #choices(depth: number): Map<string, Message> {
    const choices = new Map<string, Message>();
    while (!this.#take("}")) {
      const key = this.#word();
      if (!CHOICE.test(key)) throw new SyntaxError(`“${key}” is not a choice`);
      this.#expect("{");
      choices.set(key, this.message(depth + 1));
      this.#expect("}");
    }
    if (!choices.has("other")) throw new SyntaxError("a plural or select needs “other”");
    return choices;
  }

  #word(): string {
    this.#skipSpace();
    const [word = ""] = /^[^\s{},]*/.exec(this.#text.slice(this.#at)) ?? [];
    this.#at += word.length;
    return word;
  }

  #take(letter: string): boolean {
    this.#skipSpace();
    if (this.#text[this.#at] !== letter) return false;
    this.#at++;
    return true;
  }

  #expect(letter: string): void {
    if (!this.#take(letter)) throw new SyntaxError(`“${letter}” is missing`);
  }

  #skipSpace(): void {
    while (/\s/.test(this.#text[this.#at] ?? "")) this.#at++;
  }
}
