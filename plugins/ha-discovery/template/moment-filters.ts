import type { Arguments, Filter } from "./arguments.ts";
import { readIso, readMoment, writeMoment } from "./clock-format.ts";
import { isOnCalendar, isoFormat, Moment } from "./moment.ts";
import { looseNumber } from "./percent.ts";
import type { Run } from "./run.ts";
import { float, isTrue, kindOf, TemplateError, type Value } from "./values.ts";

/**
 * The default for a value that is not a time.
 * @throws TemplateError if the template has none
 */
function instead(value: Value, given: Arguments, index: number): Value {
  if (given.has(index, "default")) return given.get(index, "default");
  const shown = typeof value === "string" ? `"${value.slice(0, 60)}"` : kindOf(value);
  throw new TemplateError(`${shown} is not a time, and the template has no default`);
}

function momentAt(value: Value, zone: string): Moment | undefined {
  const seconds = looseNumber(value);
  if (seconds === undefined || !isOnCalendar(seconds)) return undefined;
  return new Moment(seconds, zone);
}

/** Reads a moment, a number of seconds since 1970, or ISO 8601. */
function read(value: Value, run: Run): Moment | undefined {
  if (value instanceof Moment) return value;
  const iso = typeof value === "string" ? readIso(value, run.clock.zone) : undefined;
  return iso ?? momentAt(value, run.clock.zone);
}

export const asTimestamp: Filter = (value, given, run) => {
  const moment = read(value, run);
  return moment ? float(moment.seconds) : instead(value, given, 0);
};

export const asDatetime: Filter = (value, given, run) =>
  read(value, run) ?? instead(value, given, 0);

const asLocal: Filter = (value, given, run) => {
  const moment = read(value, run);
  return moment ? new Moment(moment.seconds, run.clock.zone) : instead(value, given, 0);
};

/** `strptime(text, format, default)`. */
export const strptime: Filter = (value, given, run) => {
  const format = given.text(0, "format");
  const isText = typeof value === "string" && value.length <= 200;
  const moment = isText ? readMoment(value, format, run.clock.zone) : undefined;
  return moment ?? instead(value, given, 1);
};

/** `timestamp_custom(format, local, default)`. */
const timestampCustom: Filter = (value, given, run) => {
  const isLocal = given.has(1, "local") ? isTrue(given.get(1, "local")) : true;
  const moment = momentAt(value, isLocal ? run.clock.zone : "UTC");
  if (!moment) return instead(value, given, 2);
  const format = given.text(0, "format", "%Y-%m-%d %H:%M:%S");
  run.step(format.length);
  return run.text(writeMoment(moment, format));
};

const timestampIn =
  (zoneOf: (run: Run) => string): Filter =>
  (value, given, run) => {
    const moment = momentAt(value, zoneOf(run));
    return moment ? isoFormat(moment) : instead(value, given, 0);
  };

export const momentFilters: Readonly<Record<string, Filter>> = {
  as_datetime: asDatetime,
  as_local: asLocal,
  as_timestamp: asTimestamp,
  strptime,
  timestamp_custom: timestampCustom,
  timestamp_local: timestampIn((run) => run.clock.zone),
  timestamp_utc: timestampIn(() => "UTC"),
};
