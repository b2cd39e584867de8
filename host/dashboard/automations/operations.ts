/** The place of a value in a document, such as `["actions", 2, "then", 0]`. */
export type Path = readonly (string | number)[];

/** The value at a place; `undefined` if the place does not exist. */
export function valueAt(document: unknown, path: Path): unknown {
  let value: unknown = document;
  for (const key of path) {
    if (typeof value !== "object" || value === null) return undefined;
    value = (value as Readonly<Record<string | number, unknown>>)[key];
  }
  return value;
}

/** A copy with another value at a place. `undefined` removes the key. */
export function withValue<T>(document: T, path: Path, value: unknown): T {
  const [key, ...rest] = path;
  if (key === undefined) return value as T;
  if (typeof key === "number") {
    const items = Array.isArray(document) ? (document as readonly unknown[]) : [];
    const changed = items.toSpliced(key, 1, withValue(items[key], rest, value));
    return changed as T;
  }
  const fields = document as Readonly<Record<string, unknown>>;
  const changed = withValue<unknown>(fields[key], rest, value);
  const { [key]: _before, ...others } = fields;
  return (changed === undefined ? others : { ...fields, [key]: changed }) as T;
}

/** A copy with a new last item in the list at a place. */
export function withItem<T>(document: T, path: Path, item: unknown): T {
  return withValue(document, path, [...listAt(document, path), item]);
}

/** A copy without the item at a place. */
export function withoutItem<T>(document: T, path: Path): T {
  const { list, index } = splitPath(path);
  return withValue(document, list, listAt(document, list).toSpliced(index, 1));
}

/** A copy in which the item at a place has moved within its list. */
export function withMoved<T>(document: T, path: Path, by: number): T {
  const { list, index } = splitPath(path);
  const items = listAt(document, list);
  const to = index + by;
  if (to < 0 || to >= items.length) return document;
  return withValue(document, list, items.toSpliced(index, 1).toSpliced(to, 0, items[index]));
}

/** The list of the item at a place, and its index in it. */
export function splitPath(path: Path): { readonly list: Path; readonly index: number } {
  const index = path.at(-1);
  return { list: path.slice(0, -1), index: typeof index === "number" ? index : 0 };
}

/** The place as a JSON pointer (RFC 6901). */
export function pointerOf(path: Path): string {
  return path.map((key) => `/${String(key)}`).join("");
}

function listAt(document: unknown, path: Path): readonly unknown[] {
  const found = valueAt(document, path);
  return Array.isArray(found) ? (found as readonly unknown[]) : [];
}
