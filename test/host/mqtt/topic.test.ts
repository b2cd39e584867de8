import assert from "node:assert/strict";
import { test } from "node:test";
import { topicFaults } from "../../../host/mqtt/topic.ts";

const deep = (levels: number) => Array.from({ length: levels }, () => "a").join("/");

for (const topic of [
  "a",
  "home/küche/☀",
  "/",
  " ",
  "home//desk",
  "\ufeff",
  "x".repeat(65_535),
  deep(100),
]) {
  test(`${JSON.stringify(topic.slice(0, 20))} of ${topic.length} characters is accepted as a topic`, () => {
    assert.deepEqual(topicFaults(topic), []);
  });
}

for (const [topic, fault] of [
  ["", /empty/],
  ["ü".repeat(32_768), /is 65536 bytes of UTF-8; it must be at most 65535/],
  [deep(101), /has 101 levels/],
  ["home/+", /wildcard/],
  ["home/#", /wildcard/],
  ["a\0b", /control/],
  ["a\u0001b", /control/],
  ["a\u007fb", /control/],
  ["a\u009fb", /control/],
  ["a\ufffeb", /noncharacter/],
  ["a\u{10ffff}b", /noncharacter/],
  ["a\ud800b", /surrogate/],
  ["\udc00", /surrogate/],
  ["$SYS/broker", /starts with \$/],
  ["$share/group/a", /starts with \$/],
] as const) {
  test(`${JSON.stringify(topic.slice(0, 20))} is refused as a topic to publish to`, () => {
    const faults = topicFaults(topic);

    assert.equal(faults.length, 1);
    assert.match(faults[0] ?? "", fault);
  });
}

test("every fault of a topic is reported", () => {
  assert.equal(topicFaults("$a/#\0").length, 3);
});
