/** Above the scenes of any home. */
const MAX_STORED = 10_000;

/** Items in a stored order; those that are not in it come last, in their own order. */
export function inOrder<T>(
  items: readonly (readonly [id: string, item: T])[],
  order: readonly string[],
): readonly (readonly [id: string, item: T])[] {
  if (order.length === 0) return items;
  const places = new Map(order.map((id, place) => [id, place]));
  const placeOf = (id: string): number => places.get(id) ?? Infinity;
  return items.toSorted(([a], [b]) => (placeOf(a) === placeOf(b) ? 0 : placeOf(a) - placeOf(b)));
}

/** The wanted order. An id that is only in the stored one stays behind the id that it follows there. */
export function mergedOrder(wanted: readonly string[], stored: readonly string[]): string[] {
  const merged = [...wanted];
  const isWanted = new Set(wanted);
  for (const [index, id] of stored.entries()) {
    if (isWanted.has(id)) continue;
    merged.splice(merged.indexOf(stored[index - 1] ?? "") + 1, 0, id);
  }
  return merged.slice(0, MAX_STORED);
}
