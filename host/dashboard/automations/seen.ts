import { currentLocale } from "../i18n/language.ts";
import type { Part, TracedCondition } from "./document.ts";
import { isRecord, partsIn } from "./document.ts";
import { factValue } from "./fact-words.ts";
import { fieldOf, type HomeView, joined, valueWords } from "./home.ts";
import { phraseOf } from "./phrases.ts";
import { words } from "./words.ts";

/** Characters of a value that is shown. */
const LONGEST = 200;

/**
 * The value that a condition saw, in words, such as "21.4°". A group has its conditions with theirs. `undefined` if
 * the trace has no value.
 */
export function seenText(
  condition: Part | undefined,
  { value }: TracedCondition,
  home: HomeView,
): string | undefined {
  if (value === undefined) return undefined;
  if (value === null) return words.value.wasUnknown;
  const write = condition && Object.hasOwn(WRITERS, condition.type) && WRITERS[condition.type];
  return write ? write(condition, value, home) : plainText(value);
}

type Write = (condition: Part, value: unknown, home: HomeView) => string | undefined;

const WRITERS: Readonly<Record<string, Write>> = {
  state(condition, value, home) {
    const field = fieldOf(home.device(String(condition["device"])), String(condition["field"]));
    return valueWords(field, value, home);
  },
  time: (_, value) => (typeof value === "string" ? value.slice(0, 5) : undefined),
  sun: (_, value) => (value === "up" ? words.value.light : words.value.dark),
  presence(condition, value) {
    if (typeof condition["person"] === "string") return factValue("home", value === true);
    return value === true ? words.value.someoneHome : words.value.nobodyHome;
  },
  calendar(_, value) {
    const titles = Array.isArray(value) ? value.map((title) => `“${title}”`) : [];
    return titles.length === 0 ? words.value.noEvent : joined(titles, currentLocale.value);
  },
  all: (condition, value, home) => groupText(condition, value, home),
  any: (condition, value, home) => groupText(condition, value, home),
  none: (condition, value, home) => groupText(condition, value, home),
};

/** The conditions of a group, each with the value that it saw. */
function groupText(group: Part, value: unknown, home: HomeView): string | undefined {
  const parts = partsIn(group["of"]);
  const traced = Array.isArray(value) ? value.filter(isRecord) : [];
  const shown = traced.flatMap(({ value: seen, result }, index) => {
    const part = parts[index];
    const text = seenText(part, { index, result: result === true, value: seen }, home);
    if (!part || text === undefined) return [];
    return `${phraseOf("conditions", part, home).text}: ${text}`;
  });
  return shown.length === 0 ? undefined : shown.join("; ");
}

/** A value of which the page knows nothing more, such as that of a variable. */
export function plainText(value: unknown): string {
  const text = typeof value === "string" ? `“${value}”` : (JSON.stringify(value) ?? "");
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
}
