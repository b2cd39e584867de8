import {
  type Cause,
  type HistoryReadings,
  type HistoryRuns,
  type HistoryStatistics,
  type Logbook,
  type LogbookEntry,
  type LogbookQuery,
  MantelError,
  type ReadingsQuery,
  type RunsQuery,
  type StateValue,
  type StatisticsQuery,
} from "@mantel/plugin-sdk";
import type { History, Point } from "./history.ts";
import type { Observer } from "./observer.ts";
import { boundsOf, earlier } from "./periods.ts";
import type { SeriesRow, StoredEntry, StoredRun } from "./storage.ts";
import { fromStoredCause } from "./stored-cause.ts";

const DAY_MS = 24 * 3_600_000;
const USUAL_POINTS = 500;
const MOST_POINTS = 2_000;
const USUAL_PERIODS = 30;
const MOST_PERIODS = 2_000;
const USUAL_ENTRIES = 100;
const MOST_ENTRIES = 1_000;
const USUAL_RUNS = 50;
/** Traces of one answer, in code units. */
const MOST_TRACES = 512 * 1_024;
/** Rows of an export; an answer has at most a MiB. */
const MOST_ROWS = 10_000;

/** The query of an export. */
export interface ExportQuery {
  readonly device: string;
  readonly field?: string;
  readonly from?: string;
  readonly to?: string;
  readonly format?: "csv" | "jsonl";
}

/** Answers questions about the history. */
export class Answers {
  readonly #history: History;
  readonly #observer: Observer;
  readonly #timeZone: string;

  constructor(history: History, observer: Observer, timeZone: string) {
    this.#history = history;
    this.#observer = observer;
    this.#timeZone = timeZone;
  }

  /** @throws MantelError `device_unknown`; `invalid` with a pointer */
  async readings(query: ReadingsQuery): Promise<HistoryReadings> {
    const { device, field, points = USUAL_POINTS } = query;
    const { id, unit } = this.#seriesOf(device, field);
    if (points < 1 || points > MOST_POINTS)
      throw wrong("/points", `must be 1 to ${MOST_POINTS}, and is ${points}`);
    const span = spanOf(query, (to) => to - DAY_MS);
    const answer = await this.#history.curve({ series: id, ...span, points });
    return {
      device,
      field,
      unit,
      points: answer.points.map(toPoint),
      resolution: answer.resolution,
    };
  }

  /** @throws MantelError as `readings` */
  async statistics(query: StatisticsQuery): Promise<HistoryStatistics> {
    const { device, field, period = "day" } = query;
    const { id, unit, isCounter } = this.#seriesOf(device, field);
    const span = spanOf(query, (to) => earlier(period, to, USUAL_PERIODS));
    const timeZone = this.#timeZone;
    const bounds = boundsOf(period, span, { timeZone, most: MOST_PERIODS + 1 });
    if (bounds.length > MOST_PERIODS + 1) {
      throw wrong("/from", `is more than ${MOST_PERIODS} times a ${period} before to`);
    }
    const stats = await this.#history.statistics({ series: id, bounds });
    const statistics = stats.map((stat, index) => ({
      from: isoOf(bounds[index] ?? 0),
      to: isoOf(bounds[index + 1] ?? 0),
      min: stat?.min ?? null,
      mean: stat ? rounded(stat.mean) : null,
      max: stat?.max ?? null,
      ...(isCounter ? { sum: stat ? rounded(stat.sum) : null } : {}),
    }));
    return { device, field, unit, period, timeZone, statistics };
  }

  /** @throws MantelError `invalid` with a pointer */
  async logbook({ cursor, limit = USUAL_ENTRIES, ...query }: LogbookQuery): Promise<Logbook> {
    if (limit < 1 || limit > MOST_ENTRIES)
      throw wrong("/limit", `must be 1 to ${MOST_ENTRIES}, and is ${limit}`);
    const { from, to, ...filter } = query;
    const found = await this.#history.entries({
      ...filter,
      ...instants({ from, to }),
      ...placeOf(cursor),
      limit: limit + 1,
    });
    const entries = found.slice(0, limit);
    const last = entries.at(-1);
    const next = found.length > limit && last ? `${last.at}-${last.id}` : null;
    return { entries: entries.map(toEntry), next };
  }

  async runs(query: RunsQuery): Promise<HistoryRuns> {
    const { cursor, limit = USUAL_RUNS, traces = false, from, to, ...others } = query;
    const filter = { ...others, ...instants({ from, to }) };
    const [found, counts] = await Promise.all([
      this.#history.runs({ ...filter, ...placeOf(cursor), limit: limit + 1 }),
      this.#history.countRuns(filter),
    ]);
    const page = found.slice(0, limit);
    const runs = traces ? withinLength(page) : page;
    const last = runs.at(-1);
    const next = found.length > runs.length && last ? `${last.at}-${last.number}` : null;
    return { runs: runs.map((run) => toRun(run, traces)), counts, next };
  }

  /** The reports of a device, and the content type. @throws MantelError as `readings` */
  async export(query: ExportQuery): Promise<{ content: string; type: string }> {
    const { device, field, format = "csv" } = query;
    const series = field === undefined ? this.#allOf(device) : [this.#seriesOf(device, field)];
    const span = spanOf(query, (to) => to - DAY_MS);
    const rows: ExportRow[] = [];
    for (const { id, field: name, unit } of series) {
      const points = await this.#history.raw({ series: id, ...span, limit: MOST_ROWS + 1 });
      rows.push(...points.map(({ at, value }) => ({ at, device, field: name, value, unit })));
    }
    const sorted = rows.toSorted((a, b) => a.at - b.at);
    // All rows of one instant are in the same part, so that the next part begins at another instant.
    const next = sorted.length > MOST_ROWS ? sorted[MOST_ROWS]?.at : undefined;
    const part = next === undefined ? sorted : sorted.filter(({ at }) => at < next);
    return format === "csv" ? asCsv(part, next) : asJsonLines(part, next);
  }

  #seriesOf(device: string, field: string): SeriesRow {
    const series = this.#observer.findSeries(device, field);
    if (series) return series;
    const names = this.#allOf(device).map((each) => each.field);
    const some = names.length === 0 ? "there are none" : `it has ${names.slice(0, 20).join(", ")}`;
    throw wrong("/field", `is ${field}, which is not a recorded field of ${device}; ${some}`);
  }

  /** @throws MantelError `device_unknown` */
  #allOf(device: string): readonly SeriesRow[] {
    if (this.#observer.findDevice(device)) return this.#observer.seriesOf(device);
    throw new MantelError("device_unknown", `no device ${device} was ever recorded`);
  }
}

interface ExportRow {
  readonly at: number;
  readonly device: string;
  readonly field: string;
  readonly value: number | null;
  readonly unit: string | null;
}

/** A half-open span. @throws MantelError `invalid` */
function spanOf(
  query: { readonly from?: string; readonly to?: string },
  usualFrom: (to: number) => number,
): { from: number; to: number } {
  const to = query.to === undefined ? Date.now() : Date.parse(query.to);
  const from = query.from === undefined ? usualFrom(to) : Date.parse(query.from);
  if (from >= to) throw wrong("/from", "is not earlier than to");
  return { from, to };
}

/** The given texts as epoch milliseconds; absent ones stay absent. */
function instants(texts: { readonly from: string | undefined; readonly to: string | undefined }) {
  const given = Object.entries(texts).filter(([, text]) => text !== undefined);
  return Object.fromEntries(given.map(([name, text]) => [name, Date.parse(text ?? "")])) as {
    from?: number;
    to?: number;
  };
}

/** The last record of the previous page. */
function placeOf(cursor: string | undefined): { after?: { at: number; id: number } } {
  if (cursor === undefined) return {};
  const [at = 0, id = 0] = cursor.split("-").map(Number);
  return { after: { at, id } };
}

/** The first runs, at least one, whose traces fit into an answer. */
function withinLength(runs: readonly StoredRun[]): readonly StoredRun[] {
  let length = 0;
  const end = runs.findIndex(({ trace }) => (length += trace.length) > MOST_TRACES);
  return end < 0 ? runs : runs.slice(0, Math.max(1, end));
}

/** The error of a query, or of something to record. */
export function wrong(pointer: string, detail: string, what = "the query"): MantelError {
  return new MantelError("invalid", `${what} is invalid: ${pointer} ${detail}`, {
    errors: [{ pointer, detail }],
  });
}

const isoOf = (at: number): string => new Date(at).toISOString();
/** Sums of times and values end in digits that mean nothing. */
const rounded = (value: number): number => Number(value.toPrecision(12));

function toPoint({ at, value, ...range }: Point) {
  return { at: isoOf(at), value: value === null ? null : rounded(value), ...range };
}

function toEntry(row: StoredEntry): LogbookEntry {
  const { id, at, kind, device, what, from, to, cause, times, run, name, room } = row;
  return {
    id: String(id),
    at: isoOf(at),
    kind: kind as LogbookEntry["kind"],
    ...(device === null ? {} : { device, deviceName: name ?? device, room }),
    what,
    ...(from === null ? {} : { from: JSON.parse(from) as StateValue }),
    ...(to === null ? {} : { to: JSON.parse(to) as StateValue }),
    ...(run === null ? {} : { run }),
    cause: fromStoredCause(cause, times, at),
  };
}

function toRun(run: StoredRun, withTrace: boolean): HistoryRuns["runs"][number] {
  const { id, automation, name, at, endedAt, result, error, cause, trace } = run;
  return {
    id,
    automation,
    name,
    startedAt: isoOf(at),
    endedAt: isoOf(endedAt),
    result,
    ...(error === null ? {} : { error }),
    cause: JSON.parse(cause) as Cause,
    ...(withTrace ? { trace: JSON.parse(trace) as object } : {}),
  };
}

function asCsv(rows: readonly ExportRow[], next: number | undefined) {
  const lines = rows.map(({ at, device, field, value, unit }) =>
    [isoOf(at), device, field, value ?? "", unit ?? ""].join(","),
  );
  const more = next === undefined ? [] : [`# continues from ${isoOf(next)}`];
  const content = `${["at,device,field,value,unit", ...lines, ...more].join("\n")}\n`;
  return { content, type: "text/csv" };
}

function asJsonLines(rows: readonly ExportRow[], next: number | undefined) {
  const lines: object[] = rows.map(({ at, ...row }) => ({ at: isoOf(at), ...row }));
  if (next !== undefined) lines.push({ next: isoOf(next) });
  const content = lines.map((line) => `${JSON.stringify(line)}\n`).join("");
  return { content, type: "application/x-ndjson" };
}
