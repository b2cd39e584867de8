import { type Fields, fieldsOf, instantOf, isOnCalendar, isoFormat, Moment } from "./moment.ts";

const DAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];
const MONTHS = [
  ...["January", "February", "March", "April", "May", "June", "July", "August"],
  ...["September", "October", "November", "December"],
];

const pad = (value: number, length = 2) => String(value).padStart(length, "0");
const hour12 = ({ hour }: Fields) => hour % 12 || 12;

/** The output of each `strftime` directive. */
const WRITTEN: Readonly<Record<string, (at: Fields, moment: Moment) => string>> = {
  Y: ({ year }) => pad(year, 4),
  y: ({ year }) => pad(year % 100),
  m: ({ month }) => pad(month),
  B: ({ month }) => MONTHS[month - 1] ?? "",
  b: ({ month }) => (MONTHS[month - 1] ?? "").slice(0, 3),
  d: ({ day }) => pad(day),
  j: (at) =>
    pad(
      Math.floor((Date.UTC(at.year, at.month - 1, at.day) - Date.UTC(at.year, 0)) / 864e5) + 1,
      3,
    ),
  A: ({ weekday }) => DAYS[weekday] ?? "",
  a: ({ weekday }) => (DAYS[weekday] ?? "").slice(0, 3),
  w: ({ weekday }) => String((weekday + 1) % 7),
  u: ({ weekday }) => String(weekday + 1),
  H: ({ hour }) => pad(hour),
  I: (at) => pad(hour12(at)),
  p: ({ hour }) => (hour < 12 ? "AM" : "PM"),
  M: ({ minute }) => pad(minute),
  S: ({ second }) => pad(second),
  f: ({ microsecond }) => pad(microsecond, 6),
  z: (_, moment) => isoFormat(moment).slice(-6).replace(":", ""),
  Z: (_, { zone }) => zone,
  s: (_, { seconds }) => String(Math.floor(seconds)),
  F: (_, moment) => isoFormat(moment).slice(0, 10),
  T: (at) => `${pad(at.hour)}:${pad(at.minute)}:${pad(at.second)}`,
  R: (at) => `${pad(at.hour)}:${pad(at.minute)}`,
  D: (at) => `${pad(at.month)}/${pad(at.day)}/${pad(at.year % 100)}`,
  "%": () => "%",
};

/** Python's `strftime`; `%-H` leaves the zero in front out. A directive it does not know stays. */
export function writeMoment(moment: Moment, format: string): string {
  const at = fieldsOf(moment);
  return format.replace(/%(-?)(.)/gs, (whole, bare: string, letter: string) => {
    const write = Object.hasOwn(WRITTEN, letter) ? WRITTEN[letter] : undefined;
    if (!write) return whole;
    const text = write(at, moment);
    return bare ? text.replace(/^0+(?=.)/, "") : text;
  });
}

/** The pattern of each `strptime` directive, and its field. */
const READ: Readonly<Record<string, readonly [pattern: string, field: string]>> = {
  Y: ["\\d{4}", "year"],
  m: ["\\d{1,2}", "month"],
  d: ["\\d{1,2}", "day"],
  H: ["\\d{1,2}", "hour"],
  M: ["\\d{1,2}", "minute"],
  S: ["\\d{1,2}", "second"],
  f: ["\\d{1,6}", "fraction"],
  z: ["(?:Z|[+-]\\d\\d:?\\d\\d)", "offset"],
};

const PATTERN_LENGTH = 100;

/** The moment that a text names in a format of `strptime`, or `undefined`. */
export function readMoment(text: string, format: string, zone: string): Moment | undefined {
  if (format.length > PATTERN_LENGTH) return undefined;
  const pattern = patternOf(format);
  const found = pattern?.exec(text)?.groups;
  return found && momentOf(found, zone);
}

/** Made of fixed pieces that each match in one way only, so it takes time in proportion to the text. */
function patternOf(format: string): RegExp | undefined {
  const seen = new Set<string>();
  let isKnown = true;
  const source = format.replace(/%(.)|[^%\w\s]/gs, (piece, letter: string | undefined) => {
    if (letter === undefined) return `\\${piece}`;
    const read = Object.hasOwn(READ, letter) ? READ[letter] : undefined;
    if (!read || seen.has(letter)) isKnown = false;
    seen.add(letter);
    return read ? `(?<${read[1]}>${read[0]})` : "";
  });
  return isKnown ? new RegExp(`^${source}$`) : undefined;
}

const ISO =
  /^(?<year>\d{4})-(?<month>\d\d)-(?<day>\d\d)(?:[T ](?<hour>\d\d):(?<minute>\d\d)(?::(?<second>\d\d)(?:[.,](?<fraction>\d{1,9}))?)?)?\s?(?<offset>Z|[+-]\d\d:?\d\d)?$/;

/** The moment that a text names in ISO 8601, or `undefined`; without an offset it is in `zone`. */
export function readIso(text: string, zone: string): Moment | undefined {
  const found = ISO.exec(text.trim())?.groups;
  return found && momentOf(found, zone);
}

function momentOf(found: Record<string, string | undefined>, zone: string): Moment | undefined {
  const number = (field: string, absent: number) => Number(found[field] ?? absent);
  const [year, month, day] = [number("year", 1900), number("month", 1), number("day", 1)];
  const [hour, minute, second] = [number("hour", 0), number("minute", 0), number("second", 0)];
  const local = Date.UTC(year, month - 1, day, hour, minute, second) / 1_000;
  const date = new Date(local * 1_000);
  const isReal = date.getUTCMonth() === month - 1 && date.getUTCDate() === day && hour < 24;
  if (!isReal || minute > 59 || second > 59 || !isOnCalendar(local)) return undefined;
  const fraction = Number(`0.${found["fraction"] ?? 0}`);
  const offset = found["offset"];
  const instant = offset === undefined ? instantOf(local, zone) : local - secondsOf(offset);
  return new Moment(instant + fraction, zone);
}

function secondsOf(offset: string): number {
  const [, sign, hours, minutes] = /([+-])(\d\d):?(\d\d)/.exec(offset) ?? [];
  const seconds = Number(hours ?? 0) * 3_600 + Number(minutes ?? 0) * 60;
  return sign === "-" ? -seconds : seconds;
}
