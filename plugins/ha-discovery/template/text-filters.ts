import type { Arguments, Filter } from "./arguments.ts";
import { percentFormat } from "./percent.ts";
import type { Run } from "./run.ts";
import { COMPACT, json, printed, SPACED } from "./text.ts";
import { fromJson, isTrue, TemplateError } from "./values.ts";

/** A filter that makes a text of a text. */
function onText(change: (text: string, given: Arguments) => string): Filter {
  return (value, given, run) => {
    const text = printed(value, run);
    run.fits(text.length);
    return run.text(change(text, given));
  };
}

const title = (text: string) =>
  text.replace(
    /[^\s\-([{<]+/g,
    (word) => word.charAt(0).toUpperCase() + word.slice(1).toLowerCase(),
  );

const capitalize = (text: string) => text.charAt(0).toUpperCase() + text.slice(1).toLowerCase();

/** `default(other, true)` also stands in for what is false, empty or none. */
const otherwise: Filter = (value, given) => {
  const isAbsent = isTrue(given.get(1, "boolean")) ? !isTrue(value) : value === undefined;
  if (!isAbsent) return value;
  return given.has(0, "default_value") ? given.get(0, "default_value") : "";
};

const isDefined: Filter = (value) => {
  if (value === undefined) throw new TemplateError("a value is not defined");
  return value;
};

const iif: Filter = (value, given) => {
  if (value === null && given.has(2, "if_none")) return given.get(2, "if_none");
  const [index, name, absent] = isTrue(value)
    ? ([0, "if_true", true] as const)
    : ([1, "if_false", false] as const);
  return given.has(index, name) ? given.get(index, name) : absent;
};

const replace: Filter = (value, given, run) => {
  const text = printed(value, run);
  const [from, to] = [printed(given.get(0, "old"), run), printed(given.get(1, "new"), run)];
  return replaceIn(text, { from, to, most: given.whole(2, "count", Infinity) }, run);
};

/** The arguments of `replace`: old text, new text and maximum count. */
interface Replacement {
  readonly from: string;
  readonly to: string;
  readonly most: number;
}

/** @throws TemplateError when the text would be too long; it is not made then */
export function replaceIn(text: string, { from, to, most }: Replacement, run: Run): string {
  run.fits(text.length);
  const pieces = from === "" ? Array.from(text) : text.split(from);
  const times = Math.max(0, Math.min(most < 0 ? Infinity : most, pieces.length - 1));
  run.fits(text.length + times * to.length);
  const head = pieces.slice(0, times + 1).join(to);
  return [head, ...pieces.slice(times + 1)].join(from);
}

/** `truncate(length, killwords, end, leeway)`: a text that is little too long stays whole. */
function truncate(text: string, given: Arguments): string {
  const length = given.whole(0, "length", 255);
  const end = given.text(2, "end", "...");
  if (text.length <= length + given.whole(3, "leeway", 5)) return text;
  const cut = text.slice(0, Math.max(0, length - end.length));
  if (isTrue(given.get(1, "killwords"))) return cut + end;
  return (cut.lastIndexOf(" ") < 0 ? cut : cut.slice(0, cut.lastIndexOf(" "))) + end;
}

const format: Filter = (value, given, run) =>
  percentFormat(printed(value, run), given.positional, run);

/** The filter `tojson` is safe to put into a page, so it escapes what HTML would see. */
const toPageJson: Filter = (value, _, run) =>
  run
    .text(json(value, run, SPACED))
    .replace(/[<>&']/g, (character) => `\\u00${character.charCodeAt(0).toString(16)}`);

const toJson: Filter = (value, _, run) => run.text(json(value, run, COMPACT));

const readJson: Filter = (value, given, run) => {
  const text = printed(value, run);
  run.fits(text.length * 4);
  try {
    return fromJson(JSON.parse(text));
  } catch (error) {
    if (given.has(0, "default")) return given.get(0, "default");
    throw new TemplateError("a text is not JSON", { cause: error });
  }
};

export const textFilters: Readonly<Record<string, Filter>> = {
  capitalize: onText(capitalize),
  default: otherwise,
  d: otherwise,
  e: (value) => value,
  format,
  from_json: readJson,
  iif,
  is_defined: isDefined,
  lower: onText((text) => text.toLowerCase()),
  ord: (value, _, run) => printed(value, run).codePointAt(0),
  replace,
  safe: (value) => value,
  string: onText((text) => text),
  title: onText(title),
  to_json: toJson,
  tojson: toPageJson,
  trim: onText((text) => text.trim()),
  truncate: onText(truncate),
  upper: onText((text) => text.toUpperCase()),
};

export const textForms = { capitalize, title } as const;
