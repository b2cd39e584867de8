import { topicMatcher } from "@mantel/plugin-sdk";
import { discoveryFilters } from "./discovery.ts";
import { TASMOTA_FILTERS } from "./tasmota/components.ts";

/**
 * Tells which topics may be published to. Whoever may announce a device chooses its topics, and so what
 * people who control devices send where: the topics that the home refuses stay out of that, and so do
 * announcements, and topics that start with `$`, which belong to the broker (MQTT 5, 4.7.2).
 */
export function publishableTo(
  prefix: string,
  refused: readonly string[],
): (topic: string) => boolean {
  const announced = [...discoveryFilters(prefix), ...TASMOTA_FILTERS];
  const filters = [...refused, ...announced].map(topicMatcher);
  return (topic) => !topic.startsWith("$") && !filters.some((matches) => matches(topic));
}
