import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** One calendar of the corpus, and what it says in a window. `corpus/README.md` tells the format. */
export interface Case {
  readonly name: string;
  readonly calendar: Buffer;
  /** Days of the home, half open. */
  readonly window: readonly [from: string, to: string];
  readonly homeZone: string;
  readonly skipped: number;
  /** Events of which only the first occurrence is shown. */
  readonly simplified: number;
  /** True when another answer would be right too. */
  readonly policy: boolean;
  /** By start, then by title. */
  readonly expected: readonly Expected[];
}

/** An instant is in ISO 8601 and UTC, a date is `2026-06-01`. */
export interface Expected {
  readonly start: string;
  readonly end: string | undefined;
  readonly title: string | undefined;
}

export interface Found {
  readonly start: string;
  readonly end: string;
  readonly title: string;
}

const FOLDER = join(import.meta.dirname, "corpus");

export function readCorpus(): Case[] {
  const files = readdirSync(FOLDER).filter((file) => file.endsWith(".txt"));
  return files.flatMap((file) => {
    const [head = "", ...cases] = readFileSync(join(FOLDER, file), "utf8").split(/^# /m);
    const defaults = settingsOf(head);
    return cases.map((text) => readCase(text, `${file}: `, defaults));
  });
}

/** The found events with their expected fields, as texts that can be compared. */
export function compare(
  expected: readonly Expected[],
  found: readonly Found[],
): [expected: string[], found: string[]] {
  const line = ({ start, end, title }: Expected) =>
    [start, ...(end ? ["to", end] : []), ...(title === undefined ? [] : [title])].join(" ");
  const sorted = found.toSorted(byStart).map((each, at) =>
    line({
      start: each.start,
      end: expected[at]?.end && each.end,
      title: expected[at]?.title === undefined ? undefined : each.title,
    }),
  );
  return [expected.map(line), sorted];
}

function readCase(text: string, prefix: string, defaults: Settings): Case {
  const [head = "", content = "", answer = ""] = text.split(/^---\n/m);
  const name = prefix + head.slice(0, head.indexOf("\n"));
  const why = head.split("\n").slice(1);
  assert.ok(
    why.some((line) => line !== "" && !SETTING.test(line)),
    `${name} has no reasoning`,
  );
  const { window, homeZone, ends, skipped, simplified, policy } = {
    ...STANDARD,
    ...defaults,
    ...settingsOf(head),
  };
  const [from = "", to = ""] = window.split(" ");
  const lines = answer.split("\n").filter((line) => line !== "");
  return {
    name,
    homeZone,
    window: [from, to],
    skipped: Number(skipped),
    simplified: Number(simplified),
    policy: policy !== "no",
    calendar: bytesOf(content, ends),
    expected: lines.flatMap((line) => readExpected(line, name)).toSorted(byStart),
  };
}

type Settings = Partial<
  Record<"window" | "homeZone" | "skipped" | "simplified" | "policy" | "ends", string>
>;
const SETTING =
  /^(?:(window) (\S+ \S+)|(homeZone) (\S+)|(skipped) (\d+)|(simplified) (\d+)|(ends) (LF|CR)|(policy)())$/;
const LINE_ENDS: Readonly<Record<string, string>> = { LF: "\n", CR: "\r", "CR LF": "\r\n" };
const STANDARD = {
  window: "",
  homeZone: "",
  ends: "CR LF",
  skipped: "0",
  simplified: "0",
  policy: "no",
};

function settingsOf(head: string): Settings {
  const pairs = head.split("\n").flatMap((line) => {
    const [, ...found] = SETTING.exec(line)?.filter((part) => part !== undefined) ?? [];
    return found.length === 0 ? [] : [found];
  });
  return Object.fromEntries(pairs) as Settings;
}

function bytesOf(content: string, ends: string): Buffer {
  const event = /^BEGIN:/im.test(content) ? content : `BEGIN:VEVENT\nUID:a\n${content}END:VEVENT\n`;
  const whole = /BEGIN:VCALENDAR/i.test(event) ? event : `BEGIN:VCALENDAR\n${event}END:VCALENDAR\n`;
  const parts = whole.replaceAll("\n", LINE_ENDS[ends] ?? "").split(/<([0-9A-F]{2})>/);
  return Buffer.concat(parts.map((part, at) => Buffer.from(part, at % 2 === 0 ? "utf8" : "hex")));
}

const EXPECTED =
  /^(\d{4}-\d\d)(?:-(\d\d)| ([\d,-]+))(?: ([\d:,]+)(Z|[+-]\d\d:\d\d))?(?: to (\S+))?(?: "(.*)")?$/;

function readExpected(line: string, name: string): Expected[] {
  const match = EXPECTED.exec(line);
  assert.ok(match, `${name}: ${line} cannot be read`);
  const [, month = "", day, days = day ?? "", times, offset = "", until, title] = match;
  const end = until?.includes("T") ? instantIn(until) : until;
  const dates = daysIn(days).map((each) => `${month}-${each}`);
  const starts = times
    ? dates.flatMap((date) => times.split(",").map((time) => instantIn(`${date}T${time}${offset}`)))
    : dates;
  return starts.map((start) => ({ start, end, title }));
}

/** `1-3,7` as `01 02 03 07`. */
function daysIn(list: string): string[] {
  return list.split(",").flatMap((part) => {
    const [first = 0, last = first] = part.split("-").map(Number);
    return Array.from({ length: last - first + 1 }, (_, at) => String(first + at).padStart(2, "0"));
  });
}

function instantIn(text: string): string {
  return new Date(text).toISOString();
}

function byStart(a: Expected, b: Expected): number {
  const [one, other] = [a, b].map(({ start, title }) => `${start} ${title ?? ""}`);
  return (one ?? "") < (other ?? "") ? -1 : 1;
}
