import type { Reader } from "./reader.ts";
import type { Expression, Run } from "./run.ts";
import { numberOf, TemplateError, type Value } from "./values.ts";

/** The arguments of a filter, test, function or method. */
export class Arguments {
  readonly positional: readonly Value[];
  readonly named: ReadonlyMap<string, Value>;

  constructor(positional: readonly Value[], named: ReadonlyMap<string, Value> = new Map()) {
    this.positional = positional;
    this.named = named;
  }

  /** True when the argument was given, by place or by name. */
  has(index: number, name: string): boolean {
    return index < this.positional.length || this.named.has(name);
  }

  get(index: number, name: string): Value {
    return index < this.positional.length ? this.positional[index] : this.named.get(name);
  }

  /** A whole number. @throws TemplateError when the argument is something else */
  whole(index: number, name: string, absent: number): number {
    if (!this.has(index, name)) return absent;
    const number = numberOf(this.get(index, name));
    if (number !== undefined && Number.isInteger(number)) return number;
    throw new TemplateError(`${name} must be a whole number`);
  }

  /** A text. @throws TemplateError when the argument is something else */
  text(index: number, name: string, absent?: string): string {
    const value = this.has(index, name) ? this.get(index, name) : absent;
    if (typeof value === "string") return value;
    throw new TemplateError(`${name} must be a text`);
  }
}

export const NONE = new Arguments([]);

export type Filter = (value: Value, given: Arguments, run: Run) => Value;

/** Reads arguments up to the closing bracket; the opening one has been read. */
export function parseArguments(
  reader: Reader,
  parse: (reader: Reader) => Expression,
): (run: Run) => Arguments {
  const positional: Expression[] = [];
  const named: [name: string, value: Expression][] = [];
  while (!reader.takes(")")) {
    if (positional.length + named.length > 0) reader.expect(",");
    if (reader.takes(")")) break;
    if (reader.peek().kind === "name" && reader.peek(1).text === "=") {
      const name = reader.name();
      reader.expect("=");
      named.push([name, parse(reader)]);
    } else positional.push(parse(reader));
  }
  return (run) =>
    new Arguments(
      positional.map((each) => each(run)),
      new Map(named.map(([name, each]) => [name, each(run)])),
    );
}
