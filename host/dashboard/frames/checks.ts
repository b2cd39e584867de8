/** True if a value has the expected shape. */
export type Check = (value: unknown) => boolean;

/** An object, not a list, with at least these fields. */
export const record =
  (fields: Readonly<Record<string, Check>> = {}): Check =>
  (value) =>
    typeof value === "object" &&
    value !== null &&
    !Array.isArray(value) &&
    Object.entries(fields).every(([name, check]) =>
      check((value as Record<string, unknown>)[name]),
    );

export const optional =
  (check: Check): Check =>
  (value) =>
    value === undefined || check(value);

/** A string of at most this many characters. */
export const textUpTo =
  (length: number): Check =>
  (value) =>
    typeof value === "string" && value.length <= length;
