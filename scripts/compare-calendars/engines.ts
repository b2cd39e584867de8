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

const NEEDED = [
  "/usr/lib/python3/dist-packages/icalendar",
  "/usr/lib/python3/dist-packages/dateutil",
  "/usr/lib/python3/dist-packages/gi",
];

/** False if all engines are installed, else the reason. */
export function withoutEngines(): string | false {
  const missing = NEEDED.find((each) => !existsSync(each));
  return missing === undefined
    ? false
    : `${missing} is missing: apt-get install python3-icalendar python3-dateutil python3-gi gir1.2-ical-3.0`;
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

/** The answers of expand.py, in a process of its own. `search` takes the starts of the day-by-day search. */
export async function expandWithPython(
  name: "dateutil" | "libical" | "search",
  events: readonly RandomEvent[],
): Promise<Answers> {
  const parameters = [join(HERE, "expand.py"), name];
  const child = spawn(PYTHON, parameters, { stdio: ["pipe", "pipe", "inherit"] });
  child.stdin.on("error", () => undefined);
  const asked = events.map(
    ({ text, plainText = text, to, starts }) =>
      `${JSON.stringify({ text: plainText, to, starts: name === "search" ? starts : [] })}\n`,
  );
  child.stdin.end(asked.join(""));
  const answers: (readonly Found[] | string)[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    answers.push(JSON.parse(line) as readonly Found[] | string);
  }
  if (answers.length === events.length) return answers;
  throw new Error(`${name} answered ${answers.length} of ${events.length} events`);
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
