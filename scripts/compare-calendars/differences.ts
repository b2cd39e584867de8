import type { Answers, Found } from "./engines.ts";
import { inWindow } from "./engines.ts";
import type { RandomEvent } from "./random-event.ts";

/** A known difference of an engine, with the sentence of RFC 5545 that decides it. */
interface Known {
  readonly name: string;
  readonly decidedBy: string;
  readonly applies: (event: RandomEvent) => boolean;
}

const FIRST_WEEK = "3.3.10: the first week is the first with four days or more in the year";
const POSITIONS = "3.3.10: the positions count in the set of one interval, with all of its times";

const TABLE = "3.3.10, table: each BY part expands or limits each frequency";

/** Of dateutil 2.8.2, libical 3.0.16 and sabre/vobject 2.1.7. Each applies only to events on which the day-by-day search agrees with Mantel. */
const KNOWN: Readonly<Record<string, readonly Known[]>> = {
  dateutil: [
    {
      name: "BYWEEKNO: weeks that reach into another year",
      decidedBy: FIRST_WEEK,
      applies: ({ rule }) => rule.weekNo !== undefined,
    },
    {
      name: "WEEKLY with BYSETPOS: the first week begins at DTSTART",
      decidedBy: POSITIONS,
      applies: ({ rule }) => rule.freq === "WEEKLY" && rule.setPos !== undefined,
    },
  ],
  libical: [
    {
      name: "BYSETPOS: positions in another set",
      decidedBy: POSITIONS,
      applies: ({ rule }) => rule.setPos !== undefined,
    },
    {
      name: "YEARLY with BYMONTHDAY alone: other months are left out",
      decidedBy: "3.3.10, table: BYMONTHDAY expands a yearly rule",
      applies: ({ rule }) => rule.freq === "YEARLY" && rule.monthDay !== undefined && !rule.month,
    },
    {
      name: "DAILY with BYMONTHDAY: the days are not limited to it",
      decidedBy: "3.3.10, table: BYMONTHDAY limits a daily rule",
      applies: ({ rule }) => rule.freq === "DAILY" && rule.monthDay !== undefined,
    },
    {
      name: "BYWEEKNO: weeks that reach into another year",
      decidedBy: FIRST_WEEK,
      applies: ({ rule }) => rule.weekNo !== undefined,
    },
    {
      name: "WEEKLY with several days: days before that of DTSTART in the order of WKST",
      decidedBy: "3.3.10: WKST begins the week, and the days of the set are in order",
      applies: ({ rule }) => rule.freq === "WEEKLY" && (rule.day?.length ?? 0) > 1,
    },
    {
      name: "MONTHLY with several numbered days",
      decidedBy: "3.3.10: each number with its day is one of the set, which is in order",
      applies: ({ rule: { freq, day = [] } }) =>
        freq === "MONTHLY" && day.length > 1 && day.some(([nth]) => nth !== 0),
    },
    {
      name: "BYHOUR that is not in order: the first of the list counts first",
      decidedBy:
        "3.8.5.3: a recurrence set is a set of times, which COUNT takes from the beginning",
      applies: ({ rule: { hour = [] } }) => hour.some((each, at) => each < (hour[at - 1] ?? 0)),
    },
  ],
  sabre: [
    {
      name: "BYWEEKNO and BYYEARDAY: not read",
      decidedBy: TABLE,
      applies: ({ rule }) => rule.weekNo !== undefined || rule.yearDay !== undefined,
    },
    {
      name: "BYHOUR: read only in some daily and weekly rules",
      decidedBy: TABLE,
      applies: ({ rule }) => rule.hour !== undefined,
    },
    {
      name: "BYMONTH: read only in yearly rules",
      decidedBy: TABLE,
      applies: ({ rule }) => rule.month !== undefined && rule.freq !== "YEARLY",
    },
    {
      name: "BYMONTHDAY: not read in daily rules",
      decidedBy: TABLE,
      applies: ({ rule }) => rule.monthDay !== undefined && rule.freq === "DAILY",
    },
    {
      name: "YEARLY with BYDAY or BYMONTHDAY without BYMONTH: not expanded",
      decidedBy: TABLE,
      applies: ({ rule: { freq, month, day, monthDay } }) =>
        freq === "YEARLY" && !month && (day !== undefined || monthDay !== undefined),
    },
    {
      name: "YEARLY with BYMONTH: the day of DTSTART in months without it",
      decidedBy: "3.3.10: dates that do not exist are left out",
      applies: ({ rule: { freq, month, day, monthDay } }) =>
        freq === "YEARLY" && month !== undefined && !day && !monthDay,
    },
    {
      name: "BYDAY with BYMONTHDAY: days that fit one of them",
      decidedBy: TABLE,
      applies: ({ rule }) => rule.day !== undefined && rule.monthDay !== undefined,
    },
    {
      name: "numbered days that a month does not have",
      decidedBy: "3.3.10: a number without such a day is left out",
      applies: ({ rule: { day = [] } }) => day.some(([nth]) => Math.abs(nth) >= 5),
    },
    {
      name: "a time that a change of clocks skips: later ones stay at the time after it",
      decidedBy: "3.3.5: only the skipped time has the offset from before it",
      applies: ({ zone, text }) => zone !== undefined && /^DTSTART[^:]*:\d{8}T0[0-3]/m.test(text),
    },
    {
      name: "BYSETPOS: read only in some monthly and yearly rules",
      decidedBy: POSITIONS,
      applies: ({ rule }) => rule.setPos !== undefined,
    },
  ],
};

/** Events on which an engine and Mantel differ in one way. */
export interface Difference {
  readonly engine: string;
  /** Absent if nothing decides it. */
  readonly known: Known | undefined;
  readonly events: RandomEvent[];
}

/** The comparison with one engine. */
export interface Comparison {
  readonly engine: string;
  readonly asked: number;
  readonly equal: number;
  /** Events that the engine refuses, by its reason. */
  readonly refused: ReadonlyMap<string, number>;
  readonly differences: readonly Difference[];
}

interface AllAnswers {
  readonly ours: Answers;
  readonly theirs: Answers;
  /** The answers that have to be those of Mantel where the engine errs. */
  readonly referee: Answers;
}

/** Compares the answers of an engine with those of Mantel, event by event. */
export function compare(
  engine: string,
  events: readonly RandomEvent[],
  { ours, theirs, referee }: AllAnswers,
): Comparison {
  const refused = new Map<string, number>();
  const differences = new Map<string, Difference>();
  let [asked, equal] = [0, 0];
  for (const [at, event] of events.entries()) {
    const answer = theirs[at];
    if (answer === undefined) continue;
    asked++;
    if (typeof answer === "string") refused.set(answer, (refused.get(answer) ?? 0) + 1);
    else if (isSame(ours[at], answer, event)) equal++;
    else {
      const isConfirmed = isSame(ours[at], referee[at], event);
      const known = isConfirmed ? KNOWN[engine]?.find(({ applies }) => applies(event)) : undefined;
      const key = known?.name ?? "";
      const difference = differences.get(key) ?? { engine, known, events: [] };
      difference.events.push(event);
      differences.set(key, difference);
    }
  }
  return { engine, asked, equal, refused, differences: [...differences.values()] };
}

/** True if both have the same occurrences in the window of an event. */
export function isSame(
  ours: readonly Found[] | string | undefined,
  theirs: readonly Found[] | string | undefined,
  event: RandomEvent,
): boolean {
  const [mine, other] = [inWindow(ours, event), inWindow(theirs, event)];
  return mine !== undefined && JSON.stringify(mine) === JSON.stringify(other);
}
