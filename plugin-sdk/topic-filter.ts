/**
 * Compiles an MQTT topic filter (MQTT 5, 4.7) to a function that tells if a topic matches it. `+` is one level, a last
 * `#` is any number of levels, also none. A wildcard at the beginning matches no topic that starts with `$`. Called
 * with another filter, the function tells if all topics that match that one match this one, too.
 */
export function topicMatcher(filter: string): (topic: string) => boolean {
  const levels = filter.split("/");
  const takesRest = levels.at(-1) === "#";
  const named = takesRest ? levels.slice(0, -1) : levels;
  return (topic) => {
    const parts = topic.split("/");
    if (parts.length < named.length || (!takesRest && parts.length > named.length)) return false;
    if (topic.startsWith("$") && /^[+#]/.test(filter)) return false;
    return named.every((level, at) => (level === "+" ? parts[at] !== "#" : level === parts[at]));
  };
}
