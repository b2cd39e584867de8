import type { Cause } from "@mantel/plugin-sdk";
import type { EntryFilter } from "./storage.ts";

/** The texts by which a chain of causes is found: each link's kind, `kind:id` and `kind:name`, between line breaks. */
export function causeKeys(cause: Cause): string {
  const keys = new Set<string>();
  for (let link: Cause | undefined = cause; link; link = link.parent) {
    for (const key of [link.kind, `${link.kind}:${link.id}`, `${link.kind}:${link.name}`])
      keys.add(key.replaceAll("\n", " "));
  }
  return `\n${[...keys].join("\n")}\n`;
}

/** The query of the devices whose last entry about it says that they cannot be reached. */
export const UNREACHABLE = `SELECT device FROM entry WHERE after_value = 'false' AND id IN
  (SELECT max(id) FROM entry WHERE kind IN ('availability', 'removed') GROUP BY device)`;

/** The query of a page of entries, newest first, with `?` for each value. */
export function entryQuery(filter: EntryFilter): { sql: string; values: (string | number)[] } {
  const conditions: string[] = [];
  const values: (string | number)[] = [];
  const add = (condition: string, ...given: (string | number)[]): void => {
    conditions.push(condition);
    values.push(...given);
  };
  const { room, device, cause, from, to, after, limit } = filter;
  if (device !== undefined) add("e.device = ?", device);
  if (room !== undefined) add("e.device IN (SELECT id FROM device WHERE room = ?)", room);
  if (cause !== undefined) {
    add(
      "e.cause IN (SELECT id FROM cause WHERE keys LIKE ? ESCAPE '!')",
      `%\n${cause.replace(/[!%_]/g, "!$&")}\n%`,
    );
  }
  if (from !== undefined) add("e.at >= ?", from);
  if (to !== undefined) add("e.at < ?", to);
  if (after !== undefined) add("(e.at, e.id) < (?, ?)", after.at, after.id);
  values.push(limit);
  const where = conditions.length > 0 ? `WHERE ${conditions.join(" AND ")}` : "";
  const sql = `SELECT e.id, e.at, e.kind, e.device, e.what, e.before_value, e.after_value, c.json AS cause, d.name, d.room
    FROM entry e JOIN cause c ON c.id = e.cause LEFT JOIN device d ON d.id = e.device
    ${where} ORDER BY e.at DESC, e.id DESC LIMIT ?`;
  return { sql, values };
}
