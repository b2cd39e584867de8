const DAY_MS = 86_400_000;
const formats = new Map<string, Intl.DateTimeFormat>();

/** True for a name of the IANA time zone database. Offsets such as `+01:00` are none. */
export function isTimeZone(name: string): boolean {
  try {
    return /^[A-Za-z]/.test(name) && formatOf(name) !== undefined;
  } catch {
    return false; // Intl throws a RangeError for a name that it does not know
  }
}

/** What calendar and clock of a zone show at an instant: `2026-11-20T09:00:00`. */
export function wallClock(instant: number, timeZone: string): string {
  const parts = formatOf(timeZone).formatToParts(instant);
  const part = (type: string) => parts.find((each) => each.type === type)?.value ?? "";
  const date = `${part("year").padStart(4, "0")}-${part("month")}-${part("day")}`;
  return `${date}T${part("hour")}:${part("minute")}:${part("second")}`;
}

/** When a day begins in a zone, in epoch milliseconds; midnight, unless a DST change skips it. */
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
  return Date.parse(`${wallClock(instant, timeZone)}Z`) - Math.floor(instant / 1000) * 1000;
}

/** Making a format costs a hundred times as much as using it; there are some 600 names at most. */
function formatOf(timeZone: string): Intl.DateTimeFormat {
  const key = timeZone.toLowerCase();
  let format = formats.get(key);
  if (!format) {
    format = new Intl.DateTimeFormat("en-US", {
      timeZone,
      hourCycle: "h23",
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
