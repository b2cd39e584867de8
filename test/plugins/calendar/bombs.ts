import { calendar, event } from "./calendar-text.ts";

const MINUTES = Array.from({ length: 60 }, (_, minute) => minute).join(",");
const HOURS = Array.from({ length: 24 }, (_, hour) => hour).join(",");
const NEVER = "BYMONTH=2;BYMONTHDAY=30";

const rule = (text: string, start = "19700101T000000Z") =>
  event("UID:bomb", `DTSTART:${start}`, `RRULE:${text}`);
const rules = (count: number, text: string) =>
  Array.from({ length: count }, (_, at) =>
    event(`UID:${at}`, "DTSTART:19000101T000000Z", `RRULE:${text}`),
  );
const list = (count: number, item: (at: number) => string) =>
  Array.from({ length: count }, (_, at) => item(at)).join(",");
const stamp = (at: number) =>
  `${new Date(at * 60_000).toISOString().slice(0, 19).replaceAll(/[-:]/g, "")}Z`;
const zone = (tzid: string, ...lines: string[]) =>
  ["BEGIN:VTIMEZONE", `TZID:${tzid}`, ...lines, "END:VTIMEZONE"].join("\r\n");
const observance = (...lines: string[]) =>
  [
    "BEGIN:STANDARD",
    "DTSTART:19000101T000000",
    "TZOFFSETFROM:+0000",
    "TZOFFSETTO:+0100",
    ...lines,
    "END:STANDARD",
  ].join("\r\n");
const inZone = event("UID:a", "DTSTART;TZID=Bomb:20260601T090000", "RRULE:FREQ=DAILY");
const raw = (text: string) => Buffer.from(text);

/** Calendars that were made to do harm, by what they do. */
export const BOMBS: Readonly<Record<string, () => Buffer>> = {
  "every second": () => calendar(rule("FREQ=SECONDLY")),
  "every second, a thousand million times": () => calendar(rule("FREQ=SECONDLY;COUNT=999999999")),
  "every minute": () => calendar(rule("FREQ=MINUTELY;INTERVAL=1")),
  "every hour since 1900, counted": () =>
    calendar(rule("FREQ=HOURLY;COUNT=2147483647", "19000101T000000Z")),
  "every hour that never comes": () => calendar(rule(`FREQ=HOURLY;${NEVER};COUNT=99999999`)),
  "every minute by another name": () =>
    calendar(rule(`FREQ=DAILY;BYHOUR=${HOURS};BYMINUTE=${MINUTES}`)),
  "every second by another name": () =>
    calendar(rule(`FREQ=DAILY;BYHOUR=${HOURS};BYMINUTE=${MINUTES};BYSECOND=${MINUTES}`)),
  "a daily rule that never comes": () => calendar(rule(`FREQ=DAILY;${NEVER}`)),
  "a monthly rule that never comes": () => calendar(rule(`FREQ=MONTHLY;${NEVER};COUNT=5`)),
  "a yearly rule that never comes": () => calendar(rule(`FREQ=YEARLY;${NEVER};COUNT=5`)),
  "a position that never comes": () => calendar(rule("FREQ=MONTHLY;BYDAY=MO;BYSETPOS=300;COUNT=9")),
  "a week that never comes": () =>
    calendar(rule("FREQ=YEARLY;BYWEEKNO=53;BYMONTH=6;COUNT=9", "00010101T000000Z")),
  "a count beyond all numbers": () => calendar(rule(`FREQ=DAILY;COUNT=${"9".repeat(400)}`)),
  "an interval beyond all numbers": () => calendar(rule(`FREQ=DAILY;INTERVAL=${"9".repeat(400)}`)),
  "an interval of nothing": () => calendar(rule("FREQ=DAILY;INTERVAL=0")),
  "an interval below nothing": () => calendar(rule("FREQ=DAILY;INTERVAL=-1")),
  "a hundred times a day since the year one": () =>
    calendar(
      rule(`FREQ=DAILY;BYHOUR=${HOURS};BYMINUTE=0,15,30,45;COUNT=9999999`, "00010101T000000Z"),
    ),
  "five thousand rules that never come": () =>
    calendar(...rules(5_000, `FREQ=HOURLY;${NEVER};COUNT=9999`)),
  "five thousand rules that come a hundred times a day": () =>
    calendar(...rules(5_000, `FREQ=DAILY;BYHOUR=${HOURS};BYMINUTE=0,20,40`)),
  "twenty thousand rules on one event": () =>
    calendar(
      event(
        "UID:bomb",
        "DTSTART:19000101T000000Z",
        ...Array.from({ length: 20_000 }, () => `RRULE:FREQ=DAILY;${NEVER}`),
      ),
    ),
  "ten thousand rules of exceptions": () =>
    calendar(
      event(
        "UID:bomb",
        "DTSTART:20200101T000000Z",
        "RRULE:FREQ=DAILY",
        ...Array.from({ length: 10_000 }, () => "EXRULE:FREQ=DAILY;INTERVAL=2"),
      ),
    ),
  "a list part of a million numbers": () =>
    calendar(rule(`FREQ=MONTHLY;BYMONTHDAY=${list(160_000, () => "31")}`)),
  "two hundred thousand added starts": () =>
    calendar(event("UID:a", "DTSTART:20260601T000000Z", `RDATE:${list(200_000, stamp)}`)),
  "thirty thousand added starts": () =>
    calendar(event("UID:a", "DTSTART:20260601T000000Z", `RDATE:${list(29_000, stamp)}`)),
  "added starts on twenty events": () =>
    calendar(
      ...Array.from({ length: 20 }, (_, at) =>
        event(`UID:${at}`, "DTSTART:20260601T000000Z", `RDATE:${list(29_000, stamp)}`),
      ),
    ),
  "a hundred thousand exceptions": () =>
    calendar(
      event(
        ...["UID:a", "DTSTART:20260601T000000Z", "RRULE:FREQ=DAILY"],
        `EXDATE:${list(100_000, stamp)}`,
      ),
    ),
  "exceptions in twenty thousand lines": () =>
    calendar(
      event(
        ...["UID:a", "DTSTART:20260601T000000Z", "RRULE:FREQ=DAILY"],
        ...Array.from({ length: 20_000 }, (_, at) => `EXDATE:${stamp(at)}`),
      ),
    ),
  "added periods without end": () =>
    calendar(
      event(
        ...["UID:a", "DTSTART:20260601T000000Z"],
        `RDATE;VALUE=PERIOD:${list(10_000, (at) => `${stamp(at)}/P9999999W`)}`,
      ),
    ),
  "changes of an occurrence and all that follow, ten thousand times": () =>
    calendar(
      event("UID:a", "DTSTART:20200101T000000Z", "RRULE:FREQ=HOURLY"),
      ...Array.from({ length: 10_000 }, (_, at) =>
        event(
          "UID:a",
          `RECURRENCE-ID;RANGE=THISANDFUTURE:${stamp(26_300_000 + at * 60)}`,
          `DTSTART:${stamp(26_300_001 + at * 60)}`,
        ),
      ),
    ),
  "forty thousand changes of one occurrence": () =>
    calendar(
      event("UID:a", "DTSTART:20200101T000000Z", "RRULE:FREQ=DAILY"),
      ...Array.from({ length: 40_000 }, (_, at) =>
        event(
          "UID:a",
          `SEQUENCE:${at}`,
          "RECURRENCE-ID:20260601T000000Z",
          "DTSTART:20260601T010000Z",
        ),
      ),
    ),
  "forty thousand series of one identity": () =>
    calendar(
      ...Array.from({ length: 40_000 }, (_, at) =>
        event("UID:a", `DTSTART:${stamp(29_000_000 + at)}`, "RRULE:FREQ=DAILY"),
      ),
    ),
  "three hundred thousand events": () =>
    raw(`BEGIN:VCALENDAR\n${"BEGIN:VEVENT\n".repeat(300_000)}`),
  "fifty thousand events at one time": () =>
    calendar(
      ...Array.from({ length: 49_000 }, (_, at) => event(`UID:${at}`, "DTSTART:20260601T000000Z")),
    ),
  "fifty thousand series that last for years": () =>
    calendar(
      ...Array.from({ length: 49_000 }, (_, at) =>
        event(`UID:${at}`, "DTSTART:20200101T000000Z", "DURATION:P3650D", "RRULE:FREQ=DAILY"),
      ),
    ),
  "components in components": () =>
    raw(`BEGIN:VCALENDAR\n${"BEGIN:VTODO\n".repeat(100_000)}END:VCALENDAR\n`),
  "ends without beginnings": () =>
    raw(`BEGIN:VCALENDAR\n${"END:VEVENT\n".repeat(300_000)}END:VCALENDAR\n`),
  "a hundred thousand calendars": () => raw("BEGIN:VCALENDAR\nEND:VCALENDAR\n".repeat(100_000)),
  "one line of four million characters": () =>
    calendar(event("UID:a", "DTSTART:20260601T000000Z", `SUMMARY:${"x".repeat(4_000_000)}`)),
  "a head of four million characters": () => calendar(`X-WR-CALNAME:${"x".repeat(4_000_000)}`),
  "a line folded a million times": () =>
    calendar(event("UID:a", "DTSTART:20260601T000000Z", `SUMMARY:${"\r\n x".repeat(1_000_000)}`)),
  "a hundred thousand parameters": () =>
    calendar(event("UID:a", `DTSTART${";X=y".repeat(100_000)}:20260601T000000Z`)),
  "quotes that never close": () =>
    calendar(event("UID:a", `DTSTART;TZID="${"a".repeat(400_000)}:20260601T000000Z`)),
  "escapes without end": () =>
    calendar(event("UID:a", "DTSTART:20260601T000000Z", `SUMMARY:${"\\".repeat(400_000)}`)),
  "the year 9999": () =>
    calendar(
      event("UID:a", "DTSTART:99991231T235959Z", "RRULE:FREQ=DAILY"),
      event("UID:b", "DTSTART:20260601T000000Z", "DURATION:P99999999999999999W"),
      event("UID:c", "DTSTART:00000101T000000Z", "RRULE:FREQ=HOURLY"),
      event("UID:d", "DTSTART;TZID=Asia/Tokyo:00000101T000000", "DTEND:99991231T235959Z"),
    ),
  "durations below nothing": () =>
    calendar(
      event("UID:a", "DTSTART:20260601T000000Z", "DURATION:-P9999999D", "RRULE:FREQ=DAILY"),
      event("UID:b", "DTSTART:20260601T000000Z", "DTEND:00010101T000000Z", "RRULE:FREQ=DAILY"),
    ),
  "a zone that changes every day": () =>
    calendar(zone("Bomb", observance("RRULE:FREQ=DAILY")), inZone),
  "a zone with fifty thousand parts": () =>
    calendar(zone("Bomb", ...Array.from({ length: 50_000 }, () => observance())), inZone),
  "a zone whose rule never comes, for twenty thousand events": () =>
    calendar(
      zone("Bomb", observance(`RRULE:FREQ=HOURLY;${NEVER};COUNT=9`)),
      ...Array.from({ length: 20_000 }, (_, at) =>
        event(`UID:${at}`, "DTSTART;TZID=Bomb:20260601T090000"),
      ),
    ),
  "zones that name each other": () =>
    calendar(
      zone("Bomb", "X-LIC-LOCATION:Other", observance()),
      zone("Other", "X-LIC-LOCATION:Bomb", observance()),
      inZone,
    ),
  "fifty thousand zones": () =>
    calendar(
      ...Array.from({ length: 50_000 }, (_, at) => zone(`Zone ${at}`, observance())),
      inZone,
    ),
  "fifty thousand names of zones": () =>
    calendar(
      ...Array.from({ length: 40_000 }, (_, at) =>
        event(`UID:${at}`, `DTSTART;TZID=Some/Where/${at}:20260601T090000`),
      ),
    ),
  "names that objects have": () =>
    calendar(
      zone("__proto__", observance()),
      event("UID:__proto__", "DTSTART;TZID=__proto__:20260601T090000", "COLOR:__proto__"),
      event("UID:constructor", "DTSTART;TZID=constructor:20260601T090000", "STATUS:constructor"),
    ),
  "a million line ends": () => raw(`BEGIN:VCALENDAR${"\r\n".repeat(1_000_000)}END:VCALENDAR`),
  "a million colons": () => calendar(":".repeat(1_000_000), ":;".repeat(1_000_000)),
};
