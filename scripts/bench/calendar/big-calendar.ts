const EVENTS = 10_000;
const RECURRING = 500;
/** One of this many events repeats. */
const SPACING = EVENTS / RECURRING;
const YEARS = 10;
const DAY_MS = 86_400_000;
/** The maximum length of a description, chosen so that the file has 5 MB. */
const NOTE = "Bring the minutes of the last meeting\\, and something to drink.\\n".repeat(2);

/** Most series of an office have ended; one in five continues. */
const RULES: ((end: string) => string)[] = [
  (end) => `FREQ=WEEKLY;BYDAY=MO,WE,FR;UNTIL=${end}`,
  () => "FREQ=DAILY;COUNT=60",
  (end) => `FREQ=WEEKLY;INTERVAL=2;UNTIL=${end}`,
  () => "FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1",
  (end) => `FREQ=WEEKLY;UNTIL=${end}`,
  () => "FREQ=MONTHLY;BYDAY=2TU;COUNT=24",
  () => "FREQ=YEARLY",
  (end) => `FREQ=DAILY;BYDAY=MO,TU,WE,TH,FR;UNTIL=${end}`,
  () => "FREQ=WEEKLY;COUNT=52",
  () => "FREQ=YEARLY;BYMONTH=10;BYDAY=-1SU",
];
const ZONES = ["Europe/Berlin", "America/New_York", "Asia/Tokyo", "Europe/London"];

/** The calendar of a busy office: 5 MB, 10,000 events in the ten years before `until`, of which 500 repeat. */
export function bigCalendar(until = Date.UTC(2026, 11, 31)): Buffer {
  const first = until - YEARS * 365 * DAY_MS;
  const step = (until - first) / EVENTS;
  const events = Array.from({ length: EVENTS }, (_, at) => event(at, first + at * step));
  const lines = ["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//bench//EN", ...events];
  return Buffer.from([...lines, "END:VCALENDAR", ""].join("\r\n"));
}

function event(at: number, start: number): string {
  const stamp = (instant: number) =>
    new Date(instant).toISOString().replaceAll(/[-:]/g, "").slice(0, 11).concat("0000");
  const zone = ZONES[at % ZONES.length] ?? "UTC";
  const rule = RULES[(at / SPACING) % RULES.length]?.(`${stamp(start + 365 * DAY_MS)}Z`);
  return [
    "BEGIN:VEVENT",
    `UID:${at}-5c6fb2a0-6e7e-4e7b@bench.example`,
    `DTSTAMP:${stamp(start)}Z`,
    `DTSTART;TZID=${zone}:${stamp(start)}`,
    `DTEND;TZID=${zone}:${stamp(start + 3_600_000)}`,
    ...(rule ? [`RRULE:${rule}`] : []),
    `SUMMARY:Meeting number ${at}`,
    "LOCATION:Second floor\\, room 12",
    `DESCRIPTION:${NOTE}`.match(/.{1,74}/g)?.join("\r\n ") ?? "",
    "ATTENDEE;CN=Someone;PARTSTAT=ACCEPTED:mailto:someone@bench.example",
    "STATUS:CONFIRMED",
    "END:VEVENT",
  ].join("\r\n");
}
