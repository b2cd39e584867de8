/** An instant in a time zone: what `now()` gives. */
export class Moment {
  /** Seconds since 1970, with decimals. */
  readonly seconds: number;
  /** IANA. */
  readonly zone: string;

  constructor(seconds: number, zone: string) {
    this.seconds = seconds;
    this.zone = zone;
  }
}

/** The clock and calendar of a moment in its zone. */
export interface Fields {
  readonly year: number;
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
  readonly microsecond: number;
  /** 0 is Monday, as in Python. */
  readonly weekday: number;
  /** Minutes ahead of UTC. */
  readonly offset: number;
}

const LAST_SECOND = 253_402_300_799;
const FIRST_SECOND = -62_135_596_800;

/** True for seconds that Python's calendar has: the years 1 to 9999. */
export function isOnCalendar(seconds: number): boolean {
  return seconds >= FIRST_SECOND && seconds <= LAST_SECOND;
}

export function fieldsOf({ seconds, zone }: Moment): Fields {
  const whole = Math.floor(seconds);
  const offset = offsetAt(whole, zone);
  const local = new Date((whole + offset * 60) * 1_000);
  return {
    year: local.getUTCFullYear(),
    month: local.getUTCMonth() + 1,
    day: local.getUTCDate(),
    hour: local.getUTCHours(),
    minute: local.getUTCMinutes(),
    second: local.getUTCSeconds(),
    microsecond: Math.min(999_999, Math.round((seconds - whole) * 1e6)),
    weekday: (local.getUTCDay() + 6) % 7,
    offset,
  };
}

/** The instant at which clocks of a zone show a time; of two, at the end of summer time, the first. */
export function instantOf(localSeconds: number, zone: string): number {
  const guess = localSeconds - offsetAt(localSeconds, zone) * 60;
  const before = localSeconds - offsetAt(guess - 7_200, zone) * 60;
  const isBefore = before + offsetAt(before, zone) * 60 === localSeconds;
  return isBefore ? before : localSeconds - offsetAt(guess, zone) * 60;
}

const formats = new Map<string, Intl.DateTimeFormat>();

function offsetAt(seconds: number, zone: string): number {
  if (zone === "UTC") return 0;
  const known = formats.get(zone);
  const format =
    known ?? new Intl.DateTimeFormat("en", { timeZone: zone, timeZoneName: "longOffset" });
  if (!known) formats.set(zone, format);
  const name = format.formatToParts(seconds * 1_000).find(({ type }) => type === "timeZoneName");
  const [, sign, hours, minutes] = /GMT([+-])(\d\d):(\d\d)/.exec(name?.value ?? "") ?? [];
  const offset = Number(hours ?? 0) * 60 + Number(minutes ?? 0);
  return sign === "-" ? -offset : offset;
}

const pad = (value: number, length = 2) => String(value).padStart(length, "0");

/** ISO 8601 as Python writes it: microseconds only when there are any, the offset always. */
export function isoFormat(moment: Moment): string {
  const at = fieldsOf(moment);
  const date = `${pad(at.year, 4)}-${pad(at.month)}-${pad(at.day)}`;
  const clock = `${pad(at.hour)}:${pad(at.minute)}:${pad(at.second)}`;
  const fraction = at.microsecond > 0 ? `.${pad(at.microsecond, 6)}` : "";
  const away = Math.abs(at.offset);
  const offset = `${at.offset < 0 ? "-" : "+"}${pad(Math.floor(away / 60))}:${pad(away % 60)}`;
  return `${date}T${clock}${fraction}${offset}`;
}
