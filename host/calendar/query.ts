import { type Fault, MantelError } from "@mantel/plugin-sdk";
import { isTimeZone, startOfDay } from "@mantel/plugin-sdk/time";
import { pointerToken } from "@mantel/plugin-sdk/validation-errors";

/** The parsed query of `GET /calendar/events`. Instants are in epoch milliseconds. */
export interface EventQuery {
  readonly start: number;
  /** Exclusive. */
  readonly end: number;
  readonly timeZone: string;
  /** Ids of calendars; empty means all. */
  readonly calendars: readonly string[];
  readonly limit: number;
}

export interface QueryDefaults {
  readonly timeZone: string;
  readonly days: number;
  readonly now: number;
}

const MAX_LIMIT = 2000;
const MAX_DAYS = 366;
const DAY_MS = 86_400_000;
const PARAMETERS = ["start", "end", "from", "to", "tz", "calendar", "limit"];

/** A bound of the window. */
interface WindowBound {
  readonly at: number;
  /** The start in UTC of the day that it was given as. */
  readonly day?: number;
}

/** Compares false with every other bound. */
const FAULTY: WindowBound = { at: NaN };

/**
 * Reads the query of `GET /calendar/events`.
 *
 * @throws MantelError `invalid` with every fault
 */
export function parseEventQuery(query: URLSearchParams, defaults: QueryDefaults): EventQuery {
  const parameters = new Parameters(query);
  const timeZone = parameters.timeZone(defaults.timeZone);
  const start = parameters.bound("start", "from", timeZone) ?? { at: defaults.now };
  const end = parameters.bound("end", "to", timeZone) ?? { at: start.at + defaults.days * DAY_MS };
  const limit = parameters.limit();
  if (end.at <= start.at) parameters.fault("end", "end must be after start");
  if (lengthOf(start, end) > MAX_DAYS * DAY_MS) {
    parameters.fault("end", `the window may have at most ${MAX_DAYS} days`);
  }
  parameters.throwFaults();
  const calendars = query.getAll("calendar");
  return { start: start.at, end: end.at, timeZone, calendars, limit };
}

/** The length of a window in milliseconds. Between dates each day has 24 hours, also where DST begins or ends. */
function lengthOf(start: WindowBound, end: WindowBound): number {
  if (start.day === undefined || end.day === undefined) return end.at - start.at;
  return end.day - start.day;
}

class Parameters {
  readonly #query: URLSearchParams;
  readonly #faults: Fault[] = [];

  constructor(query: URLSearchParams) {
    this.#query = query;
    for (const name of new Set(query.keys())) {
      if (!PARAMETERS.includes(name)) {
        this.fault(name, `unknown parameter ${name}; use ${PARAMETERS.join(", ")}`);
      }
    }
  }

  timeZone(fallback: string): string {
    const name = this.#single("tz");
    if (name === undefined) return fallback;
    if (isTimeZone(name)) return name;
    this.fault("tz", `${name} is not an IANA time zone, such as Europe/Berlin`);
    return fallback;
  }

  bound(name: string, alias: string, timeZone: string): WindowBound | undefined {
    const faults = this.#faults.length;
    const given = [this.#single(name), this.#single(alias)].filter((text) => text !== undefined);
    if (given.length > 1)
      this.fault(alias, `${alias} is another name of ${name}; use only one of them`);
    const [text] = given;
    if (text === undefined) return undefined;
    const bound = parseBound(text, timeZone);
    if (bound === undefined) {
      this.fault(
        this.#query.has(name) ? name : alias,
        `${text} is not an RFC 3339 instant or date, such as 2026-11-20T09:00:00Z or 2026-11-20, from 1900 to 2199`,
      );
    }
    return this.#faults.length > faults ? FAULTY : bound;
  }

  limit(): number {
    const text = this.#single("limit");
    if (text === undefined) return MAX_LIMIT;
    const limit = /^\d{1,6}$/.test(text) ? Number(text) : 0;
    if (limit < 1 || limit > MAX_LIMIT) {
      this.fault("limit", `${text} is not a whole number from 1 to ${MAX_LIMIT}`);
    }
    return limit;
  }

  fault(name: string, detail: string): void {
    this.#faults.push({ pointer: `/${pointerToken(name)}`, detail });
  }

  throwFaults(): void {
    const [first] = this.#faults;
    if (!first) return;
    throw new MantelError("invalid", `invalid query: ${first.detail}`, {
      errors: this.#faults,
    });
  }

  #single(name: string): string | undefined {
    const [value, ...more] = this.#query.getAll(name);
    if (more.length > 0) this.fault(name, `${name} is given more than once`);
    return value;
  }
}

/** Accepts a space for `+`, because an unencoded `+` in a query is decoded as a space. */
const INSTANT =
  /^(\d{4}-\d\d-\d\d)[Tt]((?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,9})?)([Zz]|[+\- ](?:[01]\d|2[0-3]):[0-5]\d)$/;

function parseBound(text: string, timeZone: string): WindowBound | undefined {
  if (isDate(text)) return { at: startOfDay(text, timeZone), day: Date.parse(text) };
  const [, date = "", time = "", offset = ""] = INSTANT.exec(text) ?? [];
  if (!isDate(date)) return undefined;
  return { at: Date.parse(`${date}T${time}${offset.toUpperCase().replace(" ", "+")}`) };
}

/** Years outside 1900 to 2199 are typing errors. */
function isDate(text: string): boolean {
  if (!/^(19|2[01])\d\d-\d\d-\d\d$/.test(text)) return false;
  const instant = Date.parse(`${text}T00:00:00Z`); // accepts February 30 as March 2
  return !Number.isNaN(instant) && new Date(instant).toISOString().startsWith(text);
}
