import type { Arguments } from "./arguments.ts";
import { writeMoment } from "./clock-format.ts";
import { itemsOf } from "./items.ts";
import { isoFormat, Moment } from "./moment.ts";
import { zerosBefore } from "./percent.ts";
import type { Run } from "./run.ts";
import { replaceIn, textForms } from "./text-filters.ts";
import {
  type Dict,
  float,
  isDict,
  isEqual,
  isList,
  keyOf,
  kindOf,
  TemplateError,
  type Value,
} from "./values.ts";

type Method<T> = (of: T, given: Arguments, run: Run) => Value;

/** Removes characters from the ends of a text: white space, or those that are named. */
const strip =
  (ends: "both" | "left" | "right"): Method<string> =>
  (text, given) => {
    const named = given.has(0, "chars") ? given.text(0, "chars") : undefined;
    const stays = (character: string) =>
      named === undefined ? character.trim() !== "" : !named.includes(character);
    const characters = Array.from(text);
    const from = ends === "right" ? 0 : characters.findIndex(stays);
    const to = ends === "left" ? characters.length - 1 : characters.findLastIndex(stays);
    return from < 0 ? "" : characters.slice(from, to + 1).join("");
  };

function split(text: string, given: Arguments, run: Run): Value {
  const separator = given.has(0, "sep") ? given.get(0, "sep") : null;
  run.fits(text.length);
  if (typeof separator !== "string")
    return run.list(text.trim() === "" ? [] : text.trim().split(/\s+/));
  if (separator === "") throw new TemplateError("split: the separator is empty");
  const most = given.whole(1, "maxsplit", -1);
  const pieces = text.split(separator);
  if (most < 0 || pieces.length <= most + 1) return run.list(pieces);
  return run.list([...pieces.slice(0, most), pieces.slice(most).join(separator)]);
}

function join(text: string, given: Arguments, run: Run): Value {
  const items = itemsOf(given.get(0, "iterable"), run);
  if (!items.every((each) => typeof each === "string")) throw new TemplateError("join takes texts");
  run.fits(items.reduce((length, each) => length + each.length + text.length, 0));
  return items.join(text);
}

function count(text: string, given: Arguments, run: Run): Value {
  run.fits(text.length);
  const part = given.text(0, "sub");
  return part === "" ? text.length + 1 : text.split(part).length - 1;
}

const TEXT: ReadonlyMap<string, Method<string>> = new Map<string, Method<string>>([
  ["lower", (text) => text.toLowerCase()],
  ["upper", (text) => text.toUpperCase()],
  ["title", (text) => textForms.title(text)],
  ["capitalize", (text) => textForms.capitalize(text)],
  ["strip", strip("both")],
  ["lstrip", strip("left")],
  ["rstrip", strip("right")],
  ["split", split],
  ["splitlines", (text, _, run) => run.list(text.split(/\r\n|\r|\n/))],
  ["join", join],
  ["count", count],
  ["startswith", (text, given) => text.startsWith(given.text(0, "prefix"))],
  ["endswith", (text, given) => text.endsWith(given.text(0, "suffix"))],
  ["find", (text, given) => text.indexOf(given.text(0, "sub"))],
  ["isdigit", (text) => /^\d+$/.test(text)],
  ["isnumeric", (text) => /^\d+$/.test(text)],
  ["isdecimal", (text) => /^\d+$/.test(text)],
  ["isalpha", (text) => /^\p{L}+$/u.test(text)],
  ["zfill", (text, given, run) => zfill(text, given.whole(0, "width", 0), run)],
  [
    "replace",
    (text, given, run) =>
      replaceIn(
        text,
        { from: given.text(0, "old"), to: given.text(1, "new"), most: given.whole(2, "count", -1) },
        run,
      ),
  ],
]);

function zfill(text: string, width: number, run: Run): string {
  run.fits(width);
  return zerosBefore(text, width);
}

const DICT: ReadonlyMap<string, Method<Dict>> = new Map<string, Method<Dict>>([
  ["get", get],
  ["items", (dict, _, run) => run.list([...dict].map(([key, value]) => [key, value]))],
  ["keys", (dict, _, run) => run.list([...dict.keys()])],
  ["values", (dict, _, run) => run.list([...dict.values()])],
]);

function get(dict: Dict, given: Arguments): Value {
  const key = keyOf(given.get(0, "key"));
  if (dict.has(key)) return dict.get(key);
  return given.has(1, "default") ? given.get(1, "default") : null;
}

const LIST: ReadonlyMap<string, Method<readonly Value[]>> = new Map<
  string,
  Method<readonly Value[]>
>([
  ["index", (list, given, run) => indexOf(list, given.get(0, "value"), run)],
  [
    "count",
    (list, given, run) => list.filter((each) => isEqual(each, given.get(0, "value"), run)).length,
  ],
]);

function indexOf(list: readonly Value[], value: Value, run: Run): number {
  const index = list.findIndex((each) => isEqual(each, value, run));
  if (index < 0) throw new TemplateError("index: the value is not in the list");
  return index;
}

const MOMENT: ReadonlyMap<string, Method<Moment>> = new Map<string, Method<Moment>>([
  ["isoformat", (moment) => isoFormat(moment)],
  ["strftime", strftime],
  ["timestamp", (moment) => float(moment.seconds)],
]);

function strftime(moment: Moment, given: Arguments, run: Run): string {
  const format = given.text(0, "format");
  run.step(format.length);
  return run.text(writeMoment(moment, format));
}

/** The method of this name, whatever it is called on. @throws TemplateError when no value has one */
export function methodNamed(name: string): Method<Value> {
  if (![TEXT, DICT, LIST, MOMENT].some((methods) => methods.has(name))) {
    throw new TemplateError(`unknown method ${name.slice(0, 60)}`);
  }
  return (value, given, run) => {
    run.step(typeof value === "string" ? 1 + value.length / 64 : 1);
    const done = find(value, name);
    if (!done) throw new TemplateError(`${kindOf(value)} has no method ${name}`);
    return done(given, run);
  };
}

function find(value: Value, name: string): ((given: Arguments, run: Run) => Value) | undefined {
  if (typeof value === "string") return bound(TEXT, name, value);
  if (isDict(value)) return bound(DICT, name, value);
  if (isList(value)) return bound(LIST, name, value);
  return value instanceof Moment ? bound(MOMENT, name, value) : undefined;
}

function bound<T>(methods: ReadonlyMap<string, Method<T>>, name: string, of: T) {
  const method = methods.get(name);
  return method && ((given: Arguments, run: Run) => method(of, given, run));
}
