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

/** The start of a day such as `2026-11-24` in a zone, in epoch milliseconds: midnight, or the change of clocks that skips it. */
export function startOfDay(date: string, timeZone: string): number {
  return instantOf(Date.parse(`${date}T00:00:00Z`), timeZone);
}

/**
 * The first instant at which clocks in a zone show a local time, which is given as the UTC instant with the same reading.
 * A local time that a change of clocks skips is at the change.
 */
export function instantOf(wall: number, timeZone: string): number {
  const offsets = [offsetAt(wall - DAY_MS, timeZone), offsetAt(wall + DAY_MS, timeZone)];
  const instants = offsets
    .filter((offset) => offsetAt(wall - offset, timeZone) === offset)
    .map((offset) => wall - offset);
  if (instants.length > 0) return Math.min(...instants);
  return changeBetween(wall - Math.max(...offsets), wall - Math.min(...offsets), timeZone);
}

/** The instant, in whole seconds, from which the zone has the offset that it has at `end`. */
function changeBetween(start: number, end: number, timeZone: string): number {
  const after = offsetAt(end, timeZone);
  let [low, high] = [Math.floor(start / 1_000), Math.floor(end / 1_000)];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (offsetAt(middle * 1_000, timeZone) === after) high = middle;
    else low = middle;
  }
  return high * 1_000;
}

/** Milliseconds by which clocks in a zone are ahead of UTC. */
export function offsetAt(instant: number, timeZone: string): number {
  return wallClock(instant, timeZone) - Math.floor(instant / 1_000) * 1_000;
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
