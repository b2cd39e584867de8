import type { Cause } from "@mantel/plugin-sdk";

/** A chain of causes as it is stored: without its instants, because most chains repeat. */
export interface StoredCause {
  /** JSON. */
  readonly json: string;
  /** The texts by which it is found: each link's kind, `kind:id` and `kind:name`, between line breaks. */
  readonly keys: string;
}

export function toStoredCause(cause: Cause): StoredCause {
  const keys = new Set<string>();
  for (const { kind, id, name } of linksOf(cause)) {
    for (const key of [kind, `${kind}:${id}`, `${kind}:${name}`])
      keys.add(key.replaceAll("\n", " "));
  }
  return { json: JSON.stringify(timeless(cause)), keys: `\n${[...keys].join("\n")}\n` };
}

/** The milliseconds from the instant of each link to the entry, such as `1200,,30`; null if none has an instant. */
export function timesOf(cause: Cause, at: number): string | null {
  const times = linksOf(cause).map((link) =>
    link.at === undefined ? "" : String(at - Date.parse(link.at)),
  );
  return times.some((time) => time !== "") ? times.join(",") : null;
}

/** The chain in a row, with its instants. */
export function fromStoredCause(json: string, times: string | null, at: number): Cause {
  const cause = JSON.parse(json) as Cause;
  return times === null ? cause : timed(cause, times.split(","), at);
}

function timed({ parent, ...link }: Cause, [time = "", ...rest]: string[], at: number): Cause {
  const instant = time === "" ? {} : { at: new Date(at - Number(time)).toISOString() };
  return { ...link, ...instant, ...(parent && { parent: timed(parent, rest, at) }) };
}

/** True if two chains differ in their instants only. */
export function isSameCause(a: Cause, b: Cause): boolean {
  return a === b || JSON.stringify(timeless(a)) === JSON.stringify(timeless(b));
}

function timeless({ at: _at, parent, ...link }: Cause): Cause {
  return parent ? { ...link, parent: timeless(parent) } : link;
}

function linksOf(cause: Cause): Cause[] {
  return cause.parent ? [cause, ...linksOf(cause.parent)] : [cause];
}
