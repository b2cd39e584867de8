import assert from "node:assert/strict";
import { test } from "node:test";
import { dataOf } from "../../../host/dashboard/event-data.ts";
import { MODULE_STATES } from "../../../plugin-sdk/module-state.ts";
import { deviceOf } from "../../helpers/device.ts";

const LAMP = deviceOf();
const HUE = {
  id: "hue",
  state: "active",
  name: "Hue",
  kinds: ["bridge"],
  resources: {},
  error: null,
  lastReload: null,
  widget: null,
};

test("events that match their topic's schema are read, and topics without a schema accept any data", () => {
  assert.deepEqual(read("device.state", { device: LAMP }), { device: LAMP });
  assert.deepEqual(read("device.added", { device: { ...LAMP, room: "Hall", more: 1 } }), {
    device: { ...LAMP, room: "Hall", more: 1 },
  });
  assert.deepEqual(read("device.removed", { id: LAMP.id }), { id: LAMP.id });
  assert.equal(read("layout.changed", 5), 5);
});

test("a module can be in every state", () => {
  for (const state of MODULE_STATES) {
    const data = { module: { ...HUE, state } };
    assert.deepEqual(read("module.state", data), data);
  }
});

for (const [topic, data] of [
  ["device.state", 5],
  ["device.state", []],
  ["device.state", null],
  ["device.state", { device: { ...LAMP, id: 7 } }],
  ["device.state", { device: { ...LAMP, name: null } }],
  ["device.state", { device: { ...LAMP, revision: "9" } }],
  ["device.state", { device: { ...LAMP, capabilities: [] } }],
  ["device.added", { device: { ...LAMP, state: null } }],
  ["device.removed", { id: 7 }],
  ["module.state", { module: { id: "hue" } }],
  ["module.state", { module: { ...HUE, state: "dozing" } }],
  ["module.state", { module: { ...HUE, state: "toString" } }],
  ["widget.updated", { module: "clock-widget", hash: "a", url: 5 }],
  ["scene.activated", "host:scene:morning"],
  ["channel", { plugin: "news" }],
  ["channel", { plugin: "news", name: "headlines", revision: "1" }],
] as const) {
  test(`${topic} with ${JSON.stringify(data).slice(0, 60)} is refused`, () => {
    assert.throws(() => read(topic, data), { message: `invalid event data for ${topic}` });
  });
}

test("a body that is not JSON is refused", () => {
  assert.throws(() => dataOf({ topic: "layout.changed", id: undefined, data: "{" }), SyntaxError);
});

function read(topic: string, data: unknown): unknown {
  return dataOf({ topic, id: undefined, data: JSON.stringify(data) });
}
