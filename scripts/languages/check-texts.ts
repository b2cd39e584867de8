import type { Table } from "../../host/dashboard/i18n/language.ts";
import { argumentsOf, parseMessage } from "../../host/dashboard/i18n/message.ts";

type English = Table[string];

/**
 * The faults of a table of a language pack: texts that are missing, unknown, or whose placeholders are
 * not those of the English text. `isWhole` is false for a table that may be incomplete.
 */
export function checkTexts(
  english: Table,
  texts: Readonly<Record<string, string>>,
  { isWhole = true } = {},
): string[] {
  const faults: string[] = [];
  for (const [key, source] of Object.entries(english)) {
    const text = Object.hasOwn(texts, key) ? texts[key] : undefined;
    if (text === undefined) {
      if (isWhole) faults.push(`“${key}” is missing: ${plain(source)}`);
      continue;
    }
    const fault = faultOf(source, text);
    if (fault !== undefined) faults.push(`“${key}” ${fault}: ${plain(source)}`);
  }
  const unknown = Object.keys(texts).filter((key) => !Object.hasOwn(english, key));
  return [...faults, ...unknown.map((key) => `“${key}” is unknown`)];
}

function faultOf(english: English, text: string): string | undefined {
  if (text.trim() === "" && plain(english).trim() !== "") return "is empty";
  try {
    const used = argumentsOf(parseMessage(text));
    const { needed, known } = placeholdersOf(english);
    const lost = [...needed].filter((name) => !used.has(name));
    const added = [...used].filter((name) => !known.has(name));
    if (lost.length > 0) return `lacks {${lost.join("}, {")}}`;
    if (added.length > 0) return `has {${added.join("}, {")}}, which nothing fills in`;
  } catch (error) {
    return `is not valid, ${(error as Error).message}`;
  }
  return formsIn(text) < formsIn(plain(english)) ? "has too few forms between bars" : undefined;
}

/** The placeholders that a translation needs, and all that it may have. */
function placeholdersOf(english: English): { needed: Set<string>; known: Set<string> } {
  if (typeof english === "string") {
    const names = new Set(argumentsOf(parseMessage(english)));
    return { needed: names, known: names };
  }
  const names = Array.from({ length: english.length }, (_, at) => String(at));
  const said = plain(english);
  return {
    needed: new Set(names.filter((name) => said.includes(`{${name}}`))),
    known: new Set(names),
  };
}

/** An English text with its placeholders, as a translator sees it. */
function plain(english: English): string {
  if (typeof english === "string") return english;
  const values = Array.from({ length: english.length }, (_, at) => `{${at}}`);
  return (english as (...values: string[]) => string)(...values);
}

function formsIn(text: string): number {
  return text.split(" | ").length;
}
