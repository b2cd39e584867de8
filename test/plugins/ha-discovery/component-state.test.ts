import assert from "node:assert/strict";
import { test } from "node:test";
import { component } from "./component.ts";

const SWITCH = { state_topic: "s", command_topic: "set" };

for (const [unique_id, identity] of [
  ["relay-1", "switch:relay-1"],
  ["", "topic:homeassistant/switch/thing/config"],
  [7, "topic:homeassistant/switch/thing/config"],
  [undefined, "topic:homeassistant/switch/thing/config"],
] as const) {
  test(`a component with the unique id ${JSON.stringify(unique_id)} is known as ${identity}`, () => {
    assert.equal(component("switch", { ...SWITCH, unique_id }).known.identity, identity);
  });
}

test("a component listens to its state, its events and its availability", () => {
  const trigger = { automation_type: "trigger", topic: "t", type: "action", subtype: "x" };

  assert.deepEqual(component("switch", { ...SWITCH, availability_topic: "a" }).known.topics, [
    "s",
    "a",
  ]);
  assert.deepEqual(component("device_automation", trigger).known.topics, ["t"]);
});

test("a component takes over the state of the one that it replaces, as far as it fits", () => {
  const lamp = component("light", {
    command_topic: "set",
    brightness_command_topic: "b",
    effect_command_topic: "e",
    effect_list: ["candle"],
  });

  lamp.known.recall({ on: true, brightness: 300, effect: "party", color: "gone" });

  assert.deepEqual(lamp.known.state, { on: true, brightness: null, effect: null });
});

test("a replacing component keeps its own values for fields that the old one had no value for", () => {
  const lamp = component("light", { command_topic: "set", state_topic: "s" });
  lamp.tell("s", "ON");

  lamp.known.recall({});

  assert.deepEqual(lamp.known.state, { on: true });
});
