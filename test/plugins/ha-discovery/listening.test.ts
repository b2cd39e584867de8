import assert from "node:assert/strict";
import { test } from "node:test";
import { publishableTo } from "../../../plugins/ha-discovery/listening.ts";

for (const [topic, refused, expected] of [
  ["lamp/set", [], true],
  ["lamp/set", ["door/#"], true],
  ["door/lock/set", ["door/#"], false],
  ["door/lock/set", ["+/lock/set"], false],
  ["lamp/set", ["#"], false],
  ["$SYS/broker", [], false],
  ["$SYS/broker", ["#"], false],
  ["homeassistant/light/lamp/config", [], false],
] as const) {
  const verb = expected ? "may" : "may not";
  test(`a device ${verb} name ${topic} for its commands if ${refused.join(", ") || "no topics"} are refused`, () => {
    assert.equal(publishableTo("homeassistant", refused)(topic), expected);
  });
}
