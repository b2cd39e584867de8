import { DAY_MS, type Zone } from "./zones.ts";

const HOUR_MS = 3_600_000;
const DAYS = ["SU", "MO", "TU", "WE", "TH", "FR", "SA"];
/** Years that are described. The rules of the last one stay. */
const YEARS = 20;

/**
 * The lines of a VTIMEZONE (RFC 5545, 3.6.5) with the changes of offset that a zone has from a year on. Programs that
 * know the name of the zone use their own rules.
 */
export function zoneLines(zone: Zone, fromYear: number): string[] {
  const first = fromYear - 1; // the last change before the year applies until the first one in it
  const last = fromYear + YEARS;
  const changes = changesIn(zone, first, last);
  const [earliest] = changes;
  const isCovered = earliest !== undefined && yearOf(earliest) === first;
  const offset = zone.offsetAt(Date.UTC(first, 0, 1));
  const always = { wall: Date.UTC(1970, 0, 1), before: offset, after: offset };
  return [
    "BEGIN:VTIMEZONE",
    `TZID:${zone.name}`,
    ...(isCovered ? [] : observance({ first: always, last: always }, last)),
    ...rulesOf(changes).flatMap((rule) => observance(rule, last)),
    "END:VTIMEZONE",
  ];
}

/** A change of offset. */
interface Change {
  /** Local time before the change. */
  readonly wall: number;
  readonly before: number;
  readonly after: number;
}

/** Changes of consecutive years that have one rule. */
interface RuleOfYears {
  readonly first: Change;
  readonly last: Change;
}

function changesIn(zone: Zone, first: number, last: number): Change[] {
  const changes: Change[] = [];
  const end = Date.UTC(last + 1, 0, 1);
  for (let at = Date.UTC(first, 0, 1); at < end; at += DAY_MS) {
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

function rulesOf(changes: readonly Change[]): RuleOfYears[] {
  const rules: RuleOfYears[] = [];
  for (const change of changes) {
    const at = rules.findIndex(
      ({ last }) => patternOf(last) === patternOf(change) && yearOf(last) === yearOf(change) - 1,
    );
    const before = rules[at];
    if (before) rules[at] = { ...before, last: change };
    else rules.push({ first: change, last: change });
  }
  return rules;
}

/** The same for changes that a yearly rule gives. */
function patternOf({ wall, before, after }: Change): string {
  return [ruleOf(wall), new Date(wall).toISOString().slice(11, 16), before, after].join(" ");
}

function ruleOf(wall: number): string {
  const local = new Date(wall);
  const day = local.getUTCDate();
  const month = local.getUTCMonth() + 1;
  const days = new Date(Date.UTC(local.getUTCFullYear(), month, 0)).getUTCDate();
  const nth = day > days - 7 ? -1 : Math.ceil(day / 7);
  return `FREQ=YEARLY;BYMONTH=${month};BYDAY=${nth}${DAYS[local.getUTCDay()]}`;
}

function observance({ first, last }: RuleOfYears, lastYear: number): string[] {
  const { wall, before, after } = first;
  const kind = after > before ? "DAYLIGHT" : "STANDARD";
  const until = yearOf(last) < lastYear ? `;UNTIL=${compact(last.wall - before)}Z` : "";
  return [
    `BEGIN:${kind}`,
    `DTSTART:${compact(wall)}`,
    `TZOFFSETFROM:${offsetText(before)}`,
    `TZOFFSETTO:${offsetText(after)}`,
    ...(first === last ? [] : [`RRULE:${ruleOf(wall)}${until}`]),
    `END:${kind}`,
  ];
}

const yearOf = ({ wall }: Change) => new Date(wall).getUTCFullYear();

function offsetText(offset: number): string {
  const two = (number: number) => String(Math.floor(number)).padStart(2, "0");
  const size = Math.abs(offset);
  return `${offset < 0 ? "-" : "+"}${two(size / HOUR_MS)}${two((size % HOUR_MS) / 60_000)}`;
}

/** A local time as `20261120T090000`. */
export function compact(wall: number): string {
  return new Date(wall).toISOString().slice(0, 19).replaceAll(/[-:]/g, "");
}
