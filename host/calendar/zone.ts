const DAY_MS = 86_400_000;
const formats = new Map<string, Intl.DateTimeFormat>();

/** True for a name in the IANA time zone database. Offsets such as `+01:00` are not names. */
export function isTimeZone(name: string): boolean {
  try {
    return /^[A-Za-z]/.test(name) && formatOf(name) !== undefined;
  } catch {
    return false; // Intl throws a RangeError for unknown names
  }
}

/** The local date and time of a zone at an instant, to the second, as the UTC instant with the same reading. */
export function wallClock(instant: number, timeZone: string): number {
  const parts = formatOf(timeZone).formatToParts(instant);
  const part = (type: string) => parts.find((each) => each.type === type)?.value ?? "";
  const [year, month, day] = ["year", "month", "day"].map((type) => Number(part(type)));
  const [hour, minute, second] = ["hour", "minute", "second"].map((type) => Number(part(type)));
  // in zones behind UTC year 1 begins in the year before it, which Intl counts backwards
  const counted = part("era") === "BC" ? 1 - (year ?? 0) : (year ?? 0);
  const midnight = new Date(0).setUTCFullYear(counted, (month ?? 1) - 1, day);
  return midnight + (((hour ?? 0) * 60 + (minute ?? 0)) * 60 + (second ?? 0)) * 1000;
}

/** The start of a day in a zone, in epoch milliseconds: midnight, unless a DST change skips it. */
export function startOfDay(date: string, timeZone: string): number {
  const wall = Date.parse(`${date}T00:00:00Z`);
  const before = offsetAt(wall - DAY_MS, timeZone);
  const after = offsetAt(wall + DAY_MS, timeZone);
  const [first, second] = before > after ? [before, after] : [after, before];
  const early = wall - first;
  if (offsetAt(early, timeZone) === first) return early;
  const late = wall - second;
  return offsetAt(late, timeZone) === second ? late : wall - before;
}

function offsetAt(instant: number, timeZone: string): number {
  return wallClock(instant, timeZone) - Math.floor(instant / 1000) * 1000;
}

/** A cached format: creating one costs a hundred times as much as using it; there are at most about 600 names. */
function formatOf(timeZone: string): Intl.DateTimeFormat {
  const key = timeZone.toLowerCase();
  let format = formats.get(key);
  if (!format) {
    format = new Intl.DateTimeFormat("en-US", {
      timeZone,
      hourCycle: "h23",
      era: "short",
      year: "numeric",
      month: "2-digit",
      day: "2-digit",
      hour: "2-digit",
      minute: "2-digit",
      second: "2-digit",
    });
    formats.set(key, format);
  }
  return format;
}
