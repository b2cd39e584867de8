import { discoveryFilters } from "./discovery.ts";

/**
 * Tells which topics may be published to. Whoever may announce a device chooses its topics, and so what
 * people who control devices send where: the topics that a house refuses stay out of that, and so do
 * announcements.
 */
export function publishableTo(
  prefix: string,
  refused: readonly string[],
): (topic: string) => boolean {
  const filters = [...refused, ...discoveryFilters(prefix)].map(matcherOf);
  return (topic) => !filters.some((matches) => matches(topic));
}

/** Tells whether a topic matches a filter (MQTT 5, 4.7.1): `+` is one level, `#` it and all that follow. */
function matcherOf(filter: string): (topic: string) => boolean {
  const levels = filter.split("/");
  const named = levels.at(-1) === "#" ? levels.slice(0, -1) : levels;
  return (topic) => {
    const parts = topic.split("/");
    const isLong =
      parts.length === named.length || (named !== levels && parts.length > named.length);
    return isLong && named.every((level, at) => level === "+" || level === parts[at]);
  };
}
