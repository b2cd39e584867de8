import { parseArguments } from "./arguments.ts";
import { functionNamed, ofOthers } from "./functions.ts";
import { item } from "./items.ts";
import { methodNamed } from "./methods.ts";
import { fieldsOf, Moment } from "./moment.ts";
import type { Reader } from "./reader.ts";
import type { Expression, Run } from "./run.ts";
import { float, isList, keyOf, kindOf, numberOf, TemplateError, type Value } from "./values.ts";

/** Reads and compiles an expression. */
type Parse = (reader: Reader) => Expression;

/** Reads one value and what follows it: `.name`, `[…]`, `.method(…)`. */
export function parsePrimary(reader: Reader, parse: Parse): Expression {
  let value = parseAtom(reader, parse);
  while (reader.sees(".", "[")) {
    value =
      reader.next().text === "."
        ? parseMember(reader, value, parse)
        : parseItem(reader, value, parse);
  }
  if (reader.sees("(")) throw new TemplateError("only functions and methods can be called");
  return value;
}

function parseAtom(reader: Reader, parse: Parse): Expression {
  const { kind, text } = reader.next();
  if (kind === "text") return parseText(reader, text);
  if (kind === "number") return constant(numberIn(text));
  if (kind === "name") return parseName(reader, text, parse);
  if (text === "(") return parseBracket(reader, parse);
  if (text === "[") return parseList(reader, "]", parse);
  if (text === "{" && kind === "operator") return parseDict(reader, parse);
  throw new TemplateError(`${text} is not expected here`);
}

const constant = (value: Value) => () => value;

function numberIn(text: string): Value {
  const value = Number(text.replaceAll("_", ""));
  return /[.eE]/.test(text) ? float(value) : value;
}

/** Texts that stand side by side are one. */
function parseText(reader: Reader, first: string): Expression {
  let text = first;
  while (reader.peek().kind === "text") text += reader.next().text;
  return constant(text);
}

const CONSTANTS: ReadonlyMap<string, Value> = new Map<string, Value>([
  ...(["true", "True"] as const).map((name) => [name, true] as const),
  ...(["false", "False"] as const).map((name) => [name, false] as const),
  ...(["none", "None"] as const).map((name) => [name, null] as const),
]);

function parseName(reader: Reader, name: string, parse: Parse): Expression {
  if (CONSTANTS.has(name)) return constant(CONSTANTS.get(name));
  if (reader.takes("(")) {
    const call = functionNamed(name);
    const given = parseArguments(reader, parse);
    return (run) => {
      run.step();
      return call(given(run), run);
    };
  }
  if (name === "states" && reader.sees(".", "[")) throw ofOthers(name);
  return (run) => {
    run.step();
    return run.get(name);
  };
}

/** A value in brackets, or a tuple, which is a list here. */
function parseBracket(reader: Reader, parse: Parse): Expression {
  if (reader.takes(")")) return constant([]);
  const first = parse(reader);
  if (!reader.sees(",")) {
    reader.expect(")");
    return first;
  }
  reader.next();
  const rest = parseList(reader, ")", parse);
  return (run) => run.list([first(run), ...(rest(run) as readonly Value[])]);
}

function parseList(reader: Reader, end: string, parse: Parse): Expression {
  const items: Expression[] = [];
  while (!reader.takes(end)) {
    items.push(parse(reader));
    if (!reader.sees(end)) reader.expect(",");
  }
  return (run) => run.list(items.map((each) => each(run)));
}

function parseDict(reader: Reader, parse: Parse): Expression {
  const entries: [Expression, Expression][] = [];
  while (!reader.takes("}")) {
    const key = parse(reader);
    reader.expect(":");
    entries.push([key, parse(reader)]);
    if (!reader.sees("}")) reader.expect(",");
  }
  return (run) => {
    run.step(entries.length);
    return new Map(entries.map(([key, value]) => [keyOf(key(run)), value(run)]));
  };
}

function parseMember(reader: Reader, value: Expression, parse: Parse): Expression {
  if (reader.peek().kind === "number") {
    const index = numberIn(reader.next().text);
    return (run) => item(value(run), index, run);
  }
  const name = reader.name();
  if (!reader.takes("(")) return (run) => member(value(run), name, run);
  const method = methodNamed(name);
  const given = parseArguments(reader, parse);
  return (run) => {
    run.step();
    return method(value(run), given(run), run);
  };
}

const MOMENT_FIELDS = new Set(["year", "month", "day", "hour", "minute", "second", "microsecond"]);

function member(value: Value, name: string, run: Run): Value {
  if (!(value instanceof Moment) || !MOMENT_FIELDS.has(name)) return item(value, name, run);
  return fieldsOf(value)[name as "year"];
}

function parseItem(reader: Reader, value: Expression, parse: Parse): Expression {
  const from = reader.sees(":") ? undefined : parse(reader);
  if (reader.takes("]")) return (run) => item(value(run), from?.(run), run);
  reader.expect(":");
  const to = reader.sees("]") ? undefined : parse(reader);
  reader.expect("]");
  return (run) => slice(value(run), { from: from?.(run), to: to?.(run) }, run);
}

function slice(value: Value, { from, to }: { from: Value; to: Value }, run: Run): Value {
  const [start, end] = [numberOf(from), numberOf(to)];
  if (typeof value === "string") return run.text(value.slice(start, end));
  if (isList(value)) return run.list(value.slice(start, end));
  throw new TemplateError(`${kindOf(value)} cannot be sliced`);
}
