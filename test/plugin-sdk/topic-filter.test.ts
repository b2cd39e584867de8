import assert from "node:assert/strict";
import { test } from "node:test";
import { topicMatcher } from "@mantel/plugin-sdk/topic-filter";

for (const [filter, topic, matches] of [
  ["a/b", "a/b", true],
  ["a/b", "a/B", false],
  ["a/b", "a/b/c", false],
  ["a/b/c", "a/b", false],
  ["#", "a/b", true],
  ["a/#", "a/b/c", true],
  ["a/#", "a", true],
  ["a/#", "ab", false],
  ["a/+", "a/b", true],
  ["a/+", "a", false],
  ["a/+", "a/", true],
  ["a/+", "a/b/c", false],
  ["+/b", "/b", true],
  ["+", "/b", false],
  ["a/+/c", "a/b/c", true],
  ["a/+/#", "a/b", true],
  ["a/+/#", "a", false],
  ["zigbee2mqtt/bridge/request/#", "zigbee2mqtt/bridge/request/permit_join", true],
  ["zigbee2mqtt/bridge/request/#", "zigbee2mqtt/bridge/requests", false],
  ["#", "$SYS/uptime", false],
  ["+/uptime", "$SYS/uptime", false],
  ["$SYS/#", "$SYS/uptime", true],
  ["a/#/b", "a/x/b", false],
] as const) {
  test(`the filter ${filter} ${matches ? "matches" : "does not match"} ${topic}`, () => {
    assert.equal(topicMatcher(filter)(topic), matches);
  });
}

for (const [wide, narrow, matches] of [
  ["a/#", "a/b/#", true],
  ["a/#", "a/#", true],
  ["a/#", "a/+/c", true],
  ["a/+", "a/+", true],
  ["a/b", "a/+", false],
  ["a/+", "a/#", false],
  ["a/+/#", "a/#", false],
  ["#", "$SYS/#", false],
] as const) {
  const verb = matches ? "covers" : "does not cover";
  test(`the filter ${wide} ${verb} all topics of the filter ${narrow}`, () => {
    assert.equal(topicMatcher(wide)(narrow), matches);
  });
}
