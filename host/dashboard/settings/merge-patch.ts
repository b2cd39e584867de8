export type Values = Readonly<Record<string, unknown>>;

/**
 * What turns one document into another as a JSON Merge Patch (RFC 7396). What is the same is not in it,
 * and so neither is a secret that was shown as `{set: true}` and left alone.
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

/** A document after a JSON Merge Patch. */
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
