import type { EntryFilter, RunFilter, RunPage } from "./storage.ts";

type Value = string | number;

/** A query with `?` for each value. */
export interface Query {
  readonly sql: string;
  readonly values: readonly Value[];
}

/** The query of the devices whose last entry about it says that they cannot be reached. */
export const UNREACHABLE = `SELECT device FROM entry WHERE after_value = 'false' AND id IN
  (SELECT max(id) FROM entry WHERE kind IN ('availability', 'removed') GROUP BY device)`;

/** The conditions of a query, joined by AND. */
class Conditions {
  readonly #texts: string[] = [];
  readonly values: Value[] = [];

  add(text: string, ...values: Value[]): void {
    this.#texts.push(text);
    this.values.push(...values);
  }

  /** Adds a condition for a value, unless it is absent. */
  addFor(text: string, value: Value | undefined): void {
    if (value !== undefined) this.add(text, value);
  }

  get text(): string {
    return this.#texts.length > 0 ? `WHERE ${this.#texts.join(" AND ")}` : "";
  }
}

/** The query of a page of entries, newest first. */
export function entryQuery(filter: EntryFilter): Query {
  const { room, device, cause, from, to, after, limit } = filter;
  const where = new Conditions();
  where.addFor("e.device = ?", device);
  where.addFor("e.device IN (SELECT id FROM device WHERE room = ?)", room);
  where.addFor(
    "e.cause IN (SELECT id FROM cause WHERE keys LIKE ? ESCAPE '!')",
    cause === undefined ? undefined : `%\n${cause.replace(/[!%_]/g, "!$&")}\n%`,
  );
  where.addFor("e.at >= ?", from);
  where.addFor("e.at < ?", to);
  if (after !== undefined) where.add("(e.at, e.id) < (?, ?)", after.at, after.id);
  const sql = `SELECT e.id, e.at, e.kind, e.device, e.what, e.before_value, e.after_value, e.times, e.run, c.json AS cause, d.name, d.room
    FROM entry e JOIN cause c ON c.id = e.cause LEFT JOIN device d ON d.id = e.device
    ${where.text} ORDER BY e.at DESC, e.id DESC LIMIT ?`;
  return { sql, values: [...where.values, limit] };
}

/** The query of a page of runs, newest start first. */
export function runQuery({ after, limit, ...filter }: RunPage): Query {
  const where = runConditions(filter);
  if (after !== undefined) where.add("(r.at, r.number) < (?, ?)", after.at, after.id);
  const sql = `SELECT r.number, r.id, r.automation, r.name, r.at, r.ended_at, r.result, r.error, r.trace, c.json AS cause
    FROM run r JOIN cause c ON c.id = r.cause ${where.text} ORDER BY r.at DESC, r.number DESC LIMIT ?`;
  return { sql, values: [...where.values, limit] };
}

/** The query of the number of runs by their result. */
export function runCountQuery(filter: RunFilter): Query {
  const where = runConditions(filter);
  const sql = `SELECT r.result, count(*) AS count FROM run r ${where.text} GROUP BY r.result`;
  return { sql, values: where.values };
}

function runConditions({ id, automation, result, from, to }: RunFilter): Conditions {
  const where = new Conditions();
  where.addFor("r.id = ?", id);
  where.addFor("r.automation = ?", automation);
  where.addFor("r.result = ?", result);
  where.addFor("r.at >= ?", from);
  where.addFor("r.at < ?", to);
  return where;
}
