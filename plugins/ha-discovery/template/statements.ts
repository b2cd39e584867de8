import { parseExpression, parseOr } from "./expression.ts";
import { Namespace } from "./functions.ts";
import { itemsOf } from "./items.ts";
import { Reader } from "./reader.ts";
import type { Expression, Run } from "./run.ts";
import { printed } from "./text.ts";
import type { Part } from "./tokens.ts";
import { isList, isTrue, NestingError, TemplateError, type Value } from "./values.ts";

/** Levels of statements. */
const DEEPEST = 20;

/** A compiled stretch of a template: what it prints. */
export type Block = (run: Run) => string;

/** Reads the parts of a template one after the other. */
export class Statements {
  readonly #parts: readonly Part[];
  #at = 0;
  #depth = 0;

  constructor(parts: readonly Part[]) {
    this.#parts = parts;
  }

  /** The whole template. @throws TemplateError */
  all(): Block {
    const { body, end } = this.#until([]);
    if (end) throw new TemplateError(`${end.peek(-1).text} has no beginning`);
    return body;
  }

  /** Reads up to a statement that is one of `ends`, which is given as a reader behind its name. */
  #until(ends: readonly string[]): { body: Block; end: Reader | undefined; name: string } {
    if (++this.#depth > DEEPEST) throw new NestingError("the template");
    const blocks: Block[] = [];
    for (let part = this.#parts[this.#at++]; part; part = this.#parts[this.#at++]) {
      if (part.kind === "data") blocks.push(data(part.text));
      else if (part.kind === "expression") blocks.push(printing(new Reader(part.tokens)));
      else {
        const reader = new Reader(part.tokens);
        const name = reader.name();
        if (ends.includes(name)) {
          this.#depth--;
          return { body: joined(blocks), end: reader, name };
        }
        blocks.push(this.#statement(name, reader));
      }
    }
    if (ends.length > 0) throw new TemplateError(`the template ends without ${ends.join(" or ")}`);
    return { body: joined(blocks), end: undefined, name: "" };
  }

  #statement(name: string, reader: Reader): Block {
    switch (name) {
      case "if":
        return this.#if(reader);
      case "for":
        return this.#for(reader);
      case "set":
        return this.#set(reader);
      default:
        throw new TemplateError(`unknown statement ${name.slice(0, 60)}`);
    }
  }

  #if(reader: Reader): Block {
    const condition = parseExpression(reader);
    reader.finish();
    const { body, end, name } = this.#until(["elif", "else", "endif"]);
    const other = this.#other(name, end);
    return (run) => {
      run.step();
      return isTrue(condition(run)) ? body(run) : other(run);
    };
  }

  #other(name: string, end: Reader | undefined): Block {
    if (name === "elif" && end) return this.#if(end);
    end?.finish();
    if (name !== "else") return () => "";
    const other = this.#until(["endif"]);
    other.end?.finish();
    return other.body;
  }

  #for(reader: Reader): Block {
    const names = [reader.name()];
    while (reader.takes(",")) names.push(reader.name());
    reader.expect("in");
    const items = parseOr(reader);
    const filter = reader.takes("if") ? parseExpression(reader) : undefined;
    reader.finish();
    const { body, end, name } = this.#until(["else", "endfor"]);
    end?.finish();
    const other = name === "else" ? this.#until(["endfor"]) : undefined;
    other?.end?.finish();
    const empty = other?.body ?? (() => "");
    return (run) => loop({ names, items, filter, body, empty }, run);
  }

  /** `set name = value`, `set space.name = value`, or `set name` with a block up to `endset`. */
  #set(reader: Reader): Block {
    const name = reader.name();
    const member = reader.takes(".") ? reader.name() : undefined;
    if (!reader.takes("=")) return this.#setBlock(reader, name);
    const value = parseExpression(reader);
    reader.finish();
    return (run) => {
      if (member === undefined) run.set(name, value(run));
      else setMember(run.get(name), member, value(run));
      return "";
    };
  }

  #setBlock(reader: Reader, name: string): Block {
    reader.finish();
    const { body, end } = this.#until(["endset"]);
    end?.finish();
    return (run) => {
      run.set(name, body(run));
      return "";
    };
  }
}

function setMember(space: Value, member: string, value: Value): void {
  if (!(space instanceof Namespace)) throw new TemplateError("only a namespace takes set");
  space.set(member, value);
}

interface Loop {
  readonly names: readonly string[];
  readonly items: Expression;
  readonly filter: Expression | undefined;
  readonly body: Block;
  readonly empty: Block;
}

function loop({ names, items, filter, body, empty }: Loop, run: Run): string {
  const chosen = itemsOf(items(run), run).filter((each) =>
    run.scoped(() => {
      bind(names, each, run);
      return !filter || isTrue(filter(run));
    }),
  );
  if (chosen.length === 0) return empty(run);
  const texts = chosen.map((each, index) =>
    run.scoped(() => {
      bind(names, each, run);
      run.set("loop", loopFacts(index, chosen.length));
      return body(run);
    }),
  );
  return run.text(texts.join(""));
}

function bind(names: readonly string[], value: Value, run: Run): void {
  const [first = ""] = names;
  if (names.length === 1) return run.set(first, value);
  if (!isList(value) || value.length !== names.length) {
    throw new TemplateError(`a loop over ${names.join(", ")} needs lists of ${names.length}`);
  }
  for (const [index, name] of names.entries()) run.set(name, value[index]);
}

function loopFacts(index: number, length: number): Value {
  return new Map<Value, Value>([
    ["index", index + 1],
    ["index0", index],
    ["revindex", length - index],
    ["first", index === 0],
    ["last", index === length - 1],
    ["length", length],
  ]);
}

const data =
  (text: string): Block =>
  () =>
    text;

function printing(reader: Reader): Block {
  const value = parseExpression(reader);
  reader.finish();
  return (run) => printed(value(run), run);
}

function joined(blocks: readonly Block[]): Block {
  return (run) => run.text(blocks.map((block) => block(run)).join(""));
}
