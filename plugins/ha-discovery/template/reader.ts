import type { Token } from "./tokens.ts";
import { NestingError, TemplateError } from "./values.ts";

const END: Token = { kind: "end", text: "the end" };
const DEEPEST = 40;

/** Goes through the tokens of one tag. */
export class Reader {
  readonly #tokens: readonly Token[];
  #at = 0;
  #depth = 0;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  peek(ahead = 0): Token {
    return this.#tokens[this.#at + ahead] ?? END;
  }

  next(): Token {
    const token = this.peek();
    this.#at++;
    return token;
  }

  /** True when the next token is one of these operators or words. */
  sees(...texts: readonly string[]): boolean {
    const { kind, text } = this.peek();
    return (kind === "operator" || kind === "name") && texts.includes(text);
  }

  /** Takes the next token if it is this operator or word. */
  takes(text: string): boolean {
    const isNext = this.sees(text);
    if (isNext) this.#at++;
    return isNext;
  }

  /** @throws TemplateError when the next token is another */
  expect(text: string): void {
    if (!this.takes(text)) throw new TemplateError(`expected ${text}, found ${this.peek().text}`);
  }

  name(): string {
    const { kind, text } = this.next();
    if (kind !== "name") throw new TemplateError(`expected a name, found ${text}`);
    return text;
  }

  finish(): void {
    const { kind, text } = this.peek();
    if (kind !== "end") throw new TemplateError(`${text} is not expected here`);
  }

  /** Reads something that is nested. @throws TemplateError when it is nested too deeply */
  nested<T>(read: () => T): T {
    if (++this.#depth > DEEPEST) throw new NestingError("the template");
    try {
      return read();
    } finally {
      this.#depth--;
    }
  }
}
