import assert from "node:assert/strict";
import { test } from "node:test";
import { isDeepStrictEqual } from "node:util";
import type { CommandBeyond, DeviceCommand } from "@mantel/plugin-sdk";
import { connectAsync } from "mqtt";
import { confirmsAll, expectedOf } from "../../../plugins/zigbee2mqtt/confirmations.ts";
import { DeviceStore } from "../../../plugins/zigbee2mqtt/device-store.ts";
import { withValue } from "../../../plugins/zigbee2mqtt/feature.ts";
import { findLoggedError } from "../../../plugins/zigbee2mqtt/log-errors.ts";
import type { ListedDevice } from "../../fakes/zigbee2mqtt.ts";
import recorded from "../../fixtures/zigbee2mqtt/real-session.json" with { type: "json" };
import { until } from "../../helpers/until.ts";
import { inventoryIn } from "./definitions.ts";
import { openNetwork, real } from "./start-bridge.ts";

// The recorded answers of a real Zigbee2MQTT, from scripts/zigbee2mqtt-session.ts.

interface Step {
  readonly name: string;
  readonly payload: Readonly<Record<string, unknown>>;
  readonly told: readonly { readonly topic: string; readonly payload: unknown }[];
}

const steps = recorded.steps as readonly Step[];
const devices = recorded.devices as unknown as readonly ListedDevice[];

/** The colour at CIE x 0.64 and y 0.33. */
const RED = { hue: 0, saturation: 100 };

/** Our commands for the payloads of the session. */
const COMMANDS: Readonly<Record<string, readonly [DeviceCommand, Partial<CommandBeyond>?]>> = {
  '{"state":"ON","brightness":127} lamp': [{ on: true, brightness: 50 }],
  '{"state":"OFF"} lamp': [{ on: false }],
  '{"position":40} blind': [{ position: 40 }],
  '{"state":"OPEN"} blind': [{ open: true }],
  '{"state":"STOP"} blind': [{ stop: true }],
  '{"state":"ON","brightness":127} fan': [{}, { parts: { light: { on: true, brightness: 50 } } }],
  '{"state_l1":"ON"} gangs': [{}, { parts: { l1: { on: true } } }],
  '{"state_l2":"OFF"} gangs': [{}, { parts: { l2: { on: false } } }],
  '{"state":"LOCK"} lock': [{ locked: true }],
  '{"state":"ON"} plug': [{ on: true }],
  '{"state":"ON","brightness":127} lounge': [{ on: true, brightness: 50 }],
  '{"color":{"x":0.64,"y":0.33}} lounge': [{ color: RED }],
  '{"state":"OFF"} lounge': [{ on: false }],
};

test("the lists of a real Zigbee2MQTT become devices, and its states are theirs", () => {
  const unusable: string[] = [];
  const home = new DeviceStore([], true, (where) => unusable.push(where));
  home.take(inventoryIn(devices, recorded.groups));
  for (const { told } of steps) {
    for (const { topic, payload } of told) {
      const thing = home.named(topic);
      if (thing) home.tell(thing, payload);
    }
  }

  assert.deepEqual(
    home.describe().map(({ name, kind, parts = [] }) => [name, kind, parts.map(({ id }) => id)]),
    [
      ...["lamp light", "blind cover", "weather sensor"].map((each) => [...each.split(" "), []]),
      ["fan", "fan", ["light"]],
      ["gangs", "switch", ["l1", "l2"]],
      ...["lock lock", "plug switch", "far switch", "asleep switch", "lounge group"].map((each) => [
        ...each.split(" "),
        [],
      ]),
    ],
  );
  assert.deepEqual(unusable, []);
});

for (const { name, payload, told } of steps) {
  const [command, beyond] = COMMANDS[`${JSON.stringify(payload)} ${name}`] ?? [];
  if (!command) continue;
  test(`a real Zigbee2MQTT confirms ${JSON.stringify(payload)} of the ${name}, or says nothing`, () => {
    const thing = inventoryIn(devices, recorded.groups).things.find(
      ({ topicName }) => topicName === name,
    );
    assert.ok(thing);
    const expected = expectedOf(thing, command, { parts: {}, extra: {}, ...beyond });
    const sent = expected.reduce<Record<string, unknown>>(
      (so, { feature, written }) => withValue(so, feature.path, written),
      {},
    );

    assert.deepEqual(sent, payload);
    for (const each of told) assert.equal(confirmsAll(expected)(each.payload), true);
  });
}

for (const [name, code, words] of [
  ["far", "deadline_passed", /^far: it is out of range or without power \(Data request failed/],
  ["asleep", "deadline_passed", /^asleep: it does not answer; .* \(Timeout - /],
  ["nobody", "device_unknown", /nobody/],
] as const) {
  test(`the error of a real Zigbee2MQTT about ${name} is ${code}`, () => {
    const found = steps
      .filter((step) => step.name === name)
      .flatMap(({ told }) => told.flatMap(({ payload }) => findLoggedError(payload) ?? []));

    assert.deepEqual(
      found.map((each) => [each.name, each.error.code]),
      [[name, code]],
    );
    assert.match(found[0]?.error.message ?? "", words);
  });
}

test("the mode of a fan is sent without its state, because a real Zigbee2MQTT takes one of both", () => {
  const step = steps.find(({ payload }) => "fan_mode" in payload);
  assert.deepEqual(step?.told[0]?.payload, { fan_mode: "on", fan_state: "ON" });
  const thing = inventoryIn(devices).things.find(({ topicName }) => topicName === "fan");
  assert.ok(thing);

  const sent = (command: DeviceCommand) =>
    expectedOf(thing, command).map(({ feature, written }) => [feature.path.join("/"), written]);

  assert.deepEqual(sent({ on: true, speed: 100 }), [["fan_mode", "high"]]);
  assert.deepEqual(sent({ on: false, speed: 100 }), [["fan_state", "OFF"]]);
  assert.deepEqual(sent({ on: true }), [["fan_state", "ON"]]);
});

test("the fake Zigbee2MQTT reports what the real one reports", real, async (t) => {
  const { fake, broker } = await openNetwork(t, { devices, groups: recorded.groups });
  const client = await connectAsync(broker.url);
  t.after(() => client.endAsync(true));
  let shown: Record<string, unknown> | undefined;
  client.on("message", (_topic, message) => {
    shown = JSON.parse(message.toString()) as Record<string, unknown>;
  });
  for (const { name, payload, told } of steps) {
    const [answer] = told;
    if (answer?.topic !== name || "fan_mode" in payload) continue;
    const answered = answer.payload as Record<string, unknown>;
    await client.subscribeAsync(`${fake.base}/${name}`);
    shown = undefined;
    await client.publishAsync(`${fake.base}/${name}/set`, JSON.stringify(payload));
    const isGroup = name === "lounge"; // a real one also has the colours of its members
    const keys = [...Object.keys(payload), ...(isGroup ? [] : ["color_mode"])];
    await until(() => keys.every((key) => isDeepStrictEqual(shown?.[key], answered[key])));
  }
});
