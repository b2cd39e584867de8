/**
 * True if every topic that matches `filter` also matches `allowed`. A topic name is a filter
 * without wildcards, so this also tests if a topic matches a filter. Wildcards at the beginning
 * match no topic that starts with `$` (MQTT 3.1.1, 4.7.2).
 */
export function filterCovers(allowed: string, filter: string): boolean {
  const [wide, narrow] = [allowed.split("/"), filter.split("/")];
  if (filter.startsWith("$") && /^[+#]/.test(allowed)) return false;
  for (const [at, level] of wide.entries()) {
    if (level === "#") return true;
    const part = narrow[at];
    if (part === undefined || part === "#") return false;
    if (level !== "+" && level !== part) return false;
  }
  return wide.length === narrow.length;
}
