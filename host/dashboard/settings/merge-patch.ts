export type Values = Readonly<Record<string, unknown>>;

/**
 * The JSON Merge Patch (RFC 7396) from one document to another. Unchanged values are left out, and
 * so are secrets that still have the form `{set: true}`.
 */
export function mergePatch(before: Values, after: Values): Values {
  const patch: Record<string, unknown> = {};
  for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const [old, next] = [before[key], after[key]];
    if (JSON.stringify(old) === JSON.stringify(next)) continue;
    if (next === undefined) patch[key] = null;
    else patch[key] = isObject(old) && isObject(next) ? mergePatch(old, next) : next;
  }
  return patch;
}

/** Applies a JSON Merge Patch to a document. */
export function applied(document: Values, patch: Values): Values {
  const result = new Map(Object.entries(document));
  for (const [key, change] of Object.entries(patch)) {
    const old = result.get(key);
    if (change === null) result.delete(key);
    else result.set(key, isObject(change) ? applied(isObject(old) ? old : {}, change) : change);
  }
  return Object.fromEntries(result);
}

function isObject(value: unknown): value is Values {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
