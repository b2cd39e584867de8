import { topicMatcher } from "@mantel/plugin-sdk";
import { discoveryFilters } from "./discovery.ts";
import { TASMOTA_FILTERS } from "./tasmota/components.ts";

/**
 * Tells which topics may be published to. A device's announcement chooses the topics that its commands go to: topics
 * that the home refuses are left out, and so are announcements, and topics that start with `$`, which belong to the
 * broker (MQTT 5, 4.7.2).
 */
export function publishableTo(
  prefix: string,
  refused: readonly string[],
): (topic: string) => boolean {
  const announced = [...discoveryFilters(prefix), ...TASMOTA_FILTERS];
  const filters = [...refused, ...announced].map(topicMatcher);
  return (topic) => !topic.startsWith("$") && !filters.some((matches) => matches(topic));
}
