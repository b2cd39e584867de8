import { DAY_MS, type Zone } from "./zones.ts";

const HOUR_MS = 3_600_000;
const DAYS = ["SU", "MO", "TU", "WE", "TH", "FR", "SA"];

/**
 * The lines of a VTIMEZONE (RFC 5545, 3.6.5) with the rules that a zone has in a year. Programs that know the name of
 * the zone use their own rules.
 */
export function zoneLines(zone: Zone, year: number): string[] {
  const changes = changesIn(zone, year);
  const first = zone.offsetAt(Date.UTC(year, 0, 1));
  const parts =
    changes.length > 0
      ? changes.flatMap((each) => observance(each))
      : observance({ wall: Date.UTC(1970, 0, 1), before: first, after: first });
  return ["BEGIN:VTIMEZONE", `TZID:${zone.name}`, ...parts, "END:VTIMEZONE"];
}

interface Change {
  /** Local time before the change. */
  readonly wall: number;
  readonly before: number;
  readonly after: number;
}

function changesIn(zone: Zone, year: number): Change[] {
  const changes: Change[] = [];
  const end = Date.UTC(year + 1, 0, 1);
  for (let at = Date.UTC(year, 0, 1); at < end; at += DAY_MS) {
    const [before, after] = [zone.offsetAt(at), zone.offsetAt(at + DAY_MS)];
    if (before === after) continue;
    let low = at;
    for (let high = at + DAY_MS; high - low > 60_000;) {
      const middle = Math.floor((low + high) / 2);
      if (zone.offsetAt(middle) === before) low = middle;
      else high = middle;
    }
    const instant = Math.ceil(low / 60_000) * 60_000;
    changes.push({ wall: instant + before, before, after });
  }
  return changes;
}

function observance({ wall, before, after }: Change): string[] {
  const kind = after > before ? "DAYLIGHT" : "STANDARD";
  const local = new Date(wall);
  const day = local.getUTCDate();
  const month = local.getUTCMonth() + 1;
  const days = new Date(Date.UTC(local.getUTCFullYear(), month, 0)).getUTCDate();
  const nth = day > days - 7 ? -1 : Math.ceil(day / 7);
  const rule = `RRULE:FREQ=YEARLY;BYMONTH=${month};BYDAY=${nth}${DAYS[local.getUTCDay()]}`;
  return [
    `BEGIN:${kind}`,
    `DTSTART:${compact(wall)}`,
    `TZOFFSETFROM:${offsetText(before)}`,
    `TZOFFSETTO:${offsetText(after)}`,
    ...(before === after ? [] : [rule]),
    `END:${kind}`,
  ];
}

function offsetText(offset: number): string {
  const two = (number: number) => String(Math.floor(number)).padStart(2, "0");
  const size = Math.abs(offset);
  return `${offset < 0 ? "-" : "+"}${two(size / HOUR_MS)}${two((size % HOUR_MS) / 60_000)}`;
}

/** A local time as `20261120T090000`. */
export function compact(wall: number): string {
  return new Date(wall).toISOString().slice(0, 19).replaceAll(/[-:]/g, "");
}
