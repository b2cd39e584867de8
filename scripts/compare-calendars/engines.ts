import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { inEnglish } from "@mantel/plugin-sdk";
import { Feed } from "../../plugins/calendar/ics/feed.ts";
import { UTC } from "../../plugins/calendar/ics/zones.ts";
import type { RandomEvent } from "./random-event.ts";

/** Start, end and title. An instant is ISO 8601 in UTC, a whole day looks like `2026-06-01`. */
export type Found = readonly [start: string, end: string, title: string];

/** The occurrences of each event, or the reason why an engine has none. */
export type Answers = readonly (readonly Found[] | string)[];

const HERE = import.meta.dirname;
const MARGIN_MS = 60 * 86_400_000;

const PYTHON = "/usr/bin/python3";

const PHP = "/usr/bin/php";

const NEEDED = [
  "/usr/lib/python3/dist-packages/icalendar",
  "/usr/lib/python3/dist-packages/dateutil",
  "/usr/lib/python3/dist-packages/gi",
  "/usr/share/php/Sabre/VObject",
];

/** False if all engines are installed, else the reason. */
export function withoutEngines(): string | false {
  const missing = NEEDED.find((each) => !existsSync(each));
  return missing === undefined
    ? false
    : `${missing} is missing: apt-get install python3-icalendar python3-dateutil python3-gi gir1.2-ical-3.0 php-cli php-sabre-vobject`;
}

/** Mantel's own answers. */
export async function expandHere(events: readonly RandomEvent[]): Promise<Answers> {
  const answers: (readonly Found[] | string)[] = [];
  for (const { text, from, to } of events) {
    const feed = await Feed.read(Buffer.from(text), UTC);
    const span = { from: Date.parse(from) - MARGIN_MS, to: Date.parse(to) + MARGIN_MS };
    const { events: found, reason } = await feed.eventsIn(span, {
      calendarId: "a",
      color: "#112233",
    });
    const bound = (at: (typeof found)[number]["start"]) =>
      "date" in at ? at.date : new Date(at.dateTime).toISOString();
    const fault = reason && inEnglish(reason);
    answers.push(fault ?? found.map((each) => [bound(each.start), bound(each.end), each.title]));
  }
  return answers;
}

/** An event as a Python process gets it. */
interface Asked {
  readonly text: string;
  readonly to: string;
  /** The starts of its rule, on its clock; empty if the engine is to find them. */
  readonly starts: readonly string[];
}

/** The answers of expand.py, in a process of its own. `search` takes the starts of the day-by-day search. */
export function expandWithPython(
  name: "dateutil" | "libical" | "search",
  events: readonly RandomEvent[],
): Promise<Answers> {
  return expand(
    name,
    events.map(({ text, plainText = text, to, starts }) => {
      return { text: plainText, to, starts: name === "search" ? starts : [] };
    }),
  );
}

/** The answers of sabre/vobject, which gives the starts of the rules; expand.py makes the occurrences of them. */
export async function expandWithSabre(events: readonly RandomEvent[]): Promise<Answers> {
  const texts = events.map(({ text, plainText = text }) => plainText);
  const asked = events.map(({ to }, at) => ({ lines: ruleLines(texts[at] ?? ""), to }));
  const starts = await answersOf<readonly string[] | string>(PHP, ["starts.php"], asked);
  const known = starts.map((each) => (typeof each === "string" ? [] : each));
  const answers = await expand(
    "search",
    events.map(({ to }, at) => ({ text: texts[at] ?? "", to, starts: known[at] ?? [] })),
  );
  return answers.map((answer, at) => {
    const reason = starts[at];
    return typeof reason === "string" ? reason : answer;
  });
}

/** The lines of a series that its rule needs. */
function ruleLines(text: string): string[] {
  const [first = ""] = text.split(/^BEGIN:VEVENT\r?\n/m).slice(1);
  return first.split(/\r?\n/).filter((line) => /^(DTSTART|RRULE)[:;]/.test(line));
}

function expand(name: string, events: readonly Asked[]): Promise<Answers> {
  return answersOf(PYTHON, ["expand.py", name], events);
}

/** The answers of a program beside this file, a line of JSON for each question. */
async function answersOf<Answer>(
  program: string,
  [file = "", ...parameters]: readonly string[],
  questions: readonly object[],
): Promise<Answer[]> {
  const command = [join(HERE, file), ...parameters];
  const child = spawn(program, command, { stdio: ["pipe", "pipe", "inherit"] });
  child.stdin.on("error", () => undefined);
  child.stdin.end(questions.map((each) => `${JSON.stringify(each)}\n`).join(""));
  const answers: Answer[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    answers.push(JSON.parse(line) as Answer);
  }
  if (answers.length === questions.length) return answers;
  throw new Error(`${file} answered ${answers.length} of ${questions.length} questions`);
}

/** The occurrences that start in the window, in order, as texts. */
export function inWindow(
  answer: readonly Found[] | string | undefined,
  { from, to }: RandomEvent,
): readonly string[] | undefined {
  if (answer === undefined || typeof answer === "string") return undefined;
  const at = (start: string) => new Date(start).toISOString();
  return answer
    .filter(([start]) => at(start) >= from && at(start) < to)
    .map((each) => each.join(" "))
    .toSorted();
}
