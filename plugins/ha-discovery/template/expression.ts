import { Arguments, NONE, parseArguments } from "./arguments.ts";
import { arithmetic, concatenate, negate, positive } from "./arithmetic.ts";
import { comparison } from "./comparison.ts";
import { filterNamed } from "./filters.ts";
import { parsePrimary } from "./primary.ts";
import type { Reader } from "./reader.ts";
import type { Expression } from "./run.ts";
import { testNamed } from "./tests.ts";
import { isTrue } from "./values.ts";

/** Reads an expression: `a if b else c` and all that binds tighter. @throws TemplateError */
export function parseExpression(reader: Reader): Expression {
  return reader.nested(() => {
    const value = parseOr(reader);
    if (!reader.takes("if")) return value;
    const condition = parseOr(reader);
    const other = reader.takes("else") ? parseExpression(reader) : () => undefined;
    return (run) => (isTrue(condition(run)) ? value(run) : other(run));
  });
}

/** Reads an expression without `if`, as the list of a `for` is, whose `if` is its own. */
export function parseOr(reader: Reader): Expression {
  let left = parseAnd(reader);
  while (reader.takes("or")) {
    const [a, b] = [left, parseAnd(reader)];
    left = (run) => {
      const value = a(run);
      return isTrue(value) ? value : b(run);
    };
  }
  return left;
}

function parseAnd(reader: Reader): Expression {
  let left = parseNot(reader);
  while (reader.takes("and")) {
    const [a, b] = [left, parseNot(reader)];
    left = (run) => {
      const value = a(run);
      return isTrue(value) ? b(run) : value;
    };
  }
  return left;
}

function parseNot(reader: Reader): Expression {
  if (!reader.takes("not")) return parseComparison(reader);
  const value = reader.nested(() => parseNot(reader));
  return (run) => !isTrue(value(run));
}

/** `a < b < c` compares each with the next, as in Python. */
function parseComparison(reader: Reader): Expression {
  const first = parseSum(reader);
  const rest: { readonly holds: ReturnType<typeof comparison>; readonly value: Expression }[] = [];
  for (let name = comparisonName(reader); name !== undefined; name = comparisonName(reader)) {
    rest.push({ holds: comparison(name), value: parseSum(reader) });
  }
  if (rest.length === 0) return first;
  return (run) => {
    let left = first(run);
    for (const { holds, value } of rest) {
      const right = value(run);
      run.step();
      if (!holds(left, right, run)) return false;
      left = right;
    }
    return true;
  };
}

function comparisonName(reader: Reader): string | undefined {
  if (reader.sees("not") && reader.peek(1).text === "in") {
    reader.next();
    return `not ${reader.next().text}`;
  }
  return reader.sees("==", "!=", "<", ">", "<=", ">=", "in") ? reader.next().text : undefined;
}

function parseSum(reader: Reader): Expression {
  let left = parseConcatenation(reader);
  while (reader.sees("+", "-")) {
    const operate = arithmetic(reader.next().text);
    const [a, b] = [left, parseConcatenation(reader)];
    left = (run) => operate(a(run), b(run), run);
  }
  return left;
}

function parseConcatenation(reader: Reader): Expression {
  let left = parseProduct(reader);
  while (reader.takes("~")) {
    const [a, b] = [left, parseProduct(reader)];
    left = (run) => concatenate(a(run), b(run), run);
  }
  return left;
}

function parseProduct(reader: Reader): Expression {
  let left = parsePower(reader);
  while (reader.sees("*", "/", "//", "%")) {
    const operate = arithmetic(reader.next().text);
    const [a, b] = [left, parsePower(reader)];
    left = (run) => operate(a(run), b(run), run);
  }
  return left;
}

function parsePower(reader: Reader): Expression {
  let left = parseFiltered(reader, parseUnary(reader));
  while (reader.takes("**")) {
    const operate = arithmetic("**");
    const [a, b] = [left, parseFiltered(reader, parseUnary(reader))];
    left = (run) => operate(a(run), b(run), run);
  }
  return left;
}

/** A sign binds tighter than a filter: `-3 | abs` is 3. */
function parseUnary(reader: Reader): Expression {
  if (!reader.sees("-", "+")) return parsePrimary(reader, parseExpression);
  const sign = reader.next().text === "-" ? negate : positive;
  const value = reader.nested(() => parseUnary(reader));
  return (run) => sign(value(run), run);
}

/** Parses the suffixes of a value: `| filter(…)` and `is test`. */
function parseFiltered(reader: Reader, value: Expression): Expression {
  let filtered = value;
  while (reader.sees("|", "is")) {
    filtered =
      reader.next().text === "|" ? withFilter(reader, filtered) : withTest(reader, filtered);
  }
  return filtered;
}

/** Reads what stands behind `|`; the statement `{% filter … %}` of Jinja is not there. */
function withFilter(reader: Reader, value: Expression): Expression {
  const filter = filterNamed(reader.name());
  const given = reader.takes("(") ? parseArguments(reader, parseExpression) : undefined;
  return (run) => {
    run.step();
    return filter(value(run), given?.(run) ?? NONE, run);
  };
}

function withTest(reader: Reader, value: Expression): Expression {
  const isNegated = reader.takes("not");
  const test = testNamed(reader.name());
  const given = testArguments(reader);
  return (run) => {
    run.step();
    return test(value(run), given?.(run) ?? NONE, run) !== isNegated;
  };
}

/** A test takes its argument in brackets or without: `is divisibleby 3`. */
function testArguments(reader: Reader): ReturnType<typeof parseArguments> | undefined {
  if (reader.takes("(")) return parseArguments(reader, parseExpression);
  const { kind } = reader.peek();
  const isWord = kind === "name" && !reader.sees("else", "or", "and", "is", "if", "in", "not");
  if (!isWord && kind !== "number" && kind !== "text" && !reader.sees("[", "{")) return undefined;
  const value = parsePrimary(reader, parseExpression);
  return (run) => new Arguments([value(run)]);
}
