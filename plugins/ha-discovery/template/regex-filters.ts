import type { Arguments, Filter } from "./arguments.ts";
import { type Captures, Regex } from "./regex.ts";
import type { Run } from "./run.ts";
import { printed } from "./text.ts";
import { isTrue, TemplateError, type Value } from "./values.ts";

/** A filter whose first argument is a regular expression, and whose argument `flagAt` ignores case. */
function onMatches<Result extends Value>(
  flagAt: number,
  work: (text: string, regex: Regex, given: Arguments, run: Run) => Result,
): (...given: Parameters<Filter>) => Result {
  return (value, given, run) => {
    const text = printed(value, run);
    run.fits(text.length);
    const regex = new Regex(
      given.text(0, "find", ""),
      isTrue(given.get(flagAt, "ignorecase")),
      run,
    );
    return work(text, regex, given, run);
  };
}

const replace = onMatches(2, (text, regex, given, run) => {
  const pieces = piecesOf(given.text(1, "replace", ""), regex.groups);
  let [result, last] = ["", 0];
  for (const captures of regex.findAll(text)) {
    const [start = 0, end = 0] = captures;
    const inserted = pieces.map((piece) =>
      typeof piece === "string" ? piece : groupIn(text, captures, piece),
    );
    result += text.slice(last, start) + inserted.join("");
    run.fits(result.length);
    last = end;
  }
  return run.text(result + text.slice(last));
});

/** The texts of a replacement, and the numbers of the groups between them. */
function piecesOf(replacement: string, groups: number): (string | number)[] {
  const pieces = replacement.split(/(\\g<\d{1,2}>|\\\d{1,2}|\\.)/s);
  return pieces.map((piece) => {
    const group = /^\\(?:g<)?(\d+)>?$/.exec(piece)?.[1];
    if (group === undefined) return piece.startsWith("\\") ? escapeIn(piece) : piece;
    if (Number(group) <= groups) return Number(group);
    throw new TemplateError(`a regular expression has no group ${group}`);
  });
}

const ESCAPES: ReadonlyMap<string, string> = new Map([
  ["\\n", "\n"],
  ["\\r", "\r"],
  ["\\t", "\t"],
]);

const escapeIn = (piece: string) => ESCAPES.get(piece) ?? piece.slice(1);

function groupIn(text: string, captures: Captures, group: number): string {
  const [start = -1, end = -1] = captures.slice(2 * group, 2 * group + 2);
  return start < 0 ? "" : text.slice(start, end);
}

/** As in Python: the groups of each match, or the whole match of an expression without groups. */
function findAll(text: string, regex: Regex, run: Run): Value[] {
  const all: Value[] = [];
  for (const captures of regex.findAll(text)) {
    const groups = Array.from({ length: regex.groups }, (_, at) => groupIn(text, captures, at + 1));
    all.push(groups.length > 1 ? run.list(groups) : (groups[0] ?? groupIn(text, captures, 0)));
    run.step();
  }
  return run.list(all);
}

export const regexTests = {
  match: onMatches(1, (text, regex) => regex.find(text, true) !== undefined),
  search: onMatches(1, (text, regex) => regex.find(text) !== undefined),
} as const;

export const regexFilters: Readonly<Record<string, Filter>> = {
  regex_findall: onMatches(1, (text, regex, _, run) => findAll(text, regex, run)),
  regex_findall_index: onMatches(2, (text, regex, given, run) => {
    const all = findAll(text, regex, run);
    const found = all.at(given.whole(1, "index", 0));
    if (found === undefined)
      throw new TemplateError("a regular expression has not as many matches");
    return found;
  }),
  regex_match: regexTests.match,
  regex_replace: replace,
  regex_search: regexTests.search,
};
