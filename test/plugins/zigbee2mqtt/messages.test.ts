import assert from "node:assert/strict";
import { test } from "node:test";
import { connectAsync } from "mqtt";
import { updateOf } from "../../../plugins/zigbee2mqtt/device-state.ts";
import { DeviceStore } from "../../../plugins/zigbee2mqtt/device-store.ts";
import { eventIn } from "../../../plugins/zigbee2mqtt/events.ts";
import { findLoggedError } from "../../../plugins/zigbee2mqtt/log-errors.ts";
import { listedLamp } from "../../fakes/zigbee2mqtt.ts";
import devices from "../../fixtures/zigbee2mqtt/bridge-devices.json" with { type: "json" };
import groups from "../../fixtures/zigbee2mqtt/bridge-groups.json" with { type: "json" };
import messages from "../../fixtures/zigbee2mqtt/messages.json" with { type: "json" };
import session from "../../fixtures/zigbee2mqtt/session.json" with { type: "json" };
import { startMosquitto } from "../../helpers/mosquitto.ts";
import { shapeFaults, type Shapes } from "../../helpers/shape.ts";
import { until } from "../../helpers/until.ts";
import { inventoryIn } from "./definitions.ts";
import { openFake, real } from "./start-bridge.ts";

const SHAPES = messages as unknown as Shapes;

test("the recorded lists have the types of Zigbee2MQTT's own messages", () => {
  assert.deepEqual(shapeFaults(SHAPES, "bridge/devices", devices), []);
  assert.deepEqual(shapeFaults(SHAPES, "bridge/groups", groups), []);
});

test(
  "all that the fake Zigbee2MQTT publishes has the types of the real one's messages",
  real,
  async (t) => {
    const broker = await startMosquitto(t);
    const told: { topic: string; text: string }[] = [];
    const client = await connectAsync(broker.url);
    t.after(() => client.endAsync(true));
    client.on("message", (topic, payload) =>
      told.push({ topic: topic.replace(/^zigbee2mqtt\//, ""), text: payload.toString() }),
    );
    await client.subscribeAsync("zigbee2mqtt/#");
    const fake = openFake(t, broker.url);
    await until(() => told.some(({ topic }) => topic === "blind/availability"));

    fake.join(listedLamp(9));
    fake.rename("lamp 9", "attic");
    fake.leave("plug");
    fake.setAvailability("sofa", "offline");
    const set = (name: string, payload: object) =>
      client.publishAsync(`zigbee2mqtt/${name}/set`, JSON.stringify(payload));
    await set("nobody", { state: "ON" });
    await set("sofa", { brightness: 300 });
    fake.unreachable.add("blind");
    await set("blind", { state: "OPEN" });
    const logged = () => told.filter(({ topic }) => topic === "bridge/logging");
    await until(() => logged().length === 3);
    await fake.stop();
    await until(() => told.filter(({ topic }) => topic === "bridge/state").length === 2);

    const faults = told.flatMap(({ topic, text }) => {
      const name = topic.endsWith("/availability") ? "availability" : topic;
      if (text === "" || (name !== "availability" && !name.startsWith("bridge/"))) return [];
      return shapeFaults(SHAPES, name, JSON.parse(text) as unknown);
    });
    assert.deepEqual(faults, []);
    assert.deepEqual(
      Object.keys(SHAPES).filter(
        (name) => !told.some(({ topic }) => topic === name || topic.endsWith(`/${name}`)),
      ),
      [],
      "each kind of message was there",
    );
    assert.deepEqual(
      logged().map(({ text }) => {
        const found = findLoggedError(JSON.parse(text));
        return [found?.name, found?.error.code];
      }),
      [
        ["nobody", "device_unknown"],
        ["sofa", "invalid"],
        ["blind", "deadline_passed"],
      ],
    );
  },
);

test("a session of the recorded devices becomes their states", () => {
  const unusable: string[] = [];
  const home = new DeviceStore([], true, (where) => unusable.push(where));
  home.take(inventoryIn(devices, groups));
  const states = session.map(([name, payload]) => {
    const thing = home.things.find(({ topicName }) => topicName === name);
    assert.ok(thing, JSON.stringify(name));
    return [name, updateOf(home.tell(thing, payload))];
  });

  assert.deepEqual(Object.fromEntries(states), {
    sofa: {
      state: { on: true, brightness: 50, colorTemperature: 2_703 },
      extra: { colorTempStartup: null, powerOnBehavior: null, linkquality: 102 },
    },
    "living/colour": {
      state: {
        on: true,
        brightness: 100,
        colorTemperature: null,
        color: { hue: 29, saturation: 100 },
      },
      extra: { linkquality: 87 },
    },
    plug: {
      state: { on: false, power: 0, voltage: 231, current: 0, energy: 12.34 },
      extra: { linkquality: 134 },
    },
    weather: {
      state: {
        battery: 88,
        temperature: -3.42,
        humidity: 71.5,
        pressure: 1_008.3,
        batteryVoltage: 2.975,
      },
      extra: { linkquality: 54 },
    },
    motion: {
      state: { battery: 100, motion: true, batteryVoltage: 3.035, illuminance: 42 },
      extra: { deviceTemperature: 21, powerOutageCount: 3, linkquality: 76 },
    },
    remote: {
      state: { battery: 74, lastAction: "brightness_up_click" },
      extra: { linkquality: 47 },
    },
    blind: { state: { position: 66, battery: 12 }, extra: { linkquality: 99 } },
    lounge: {
      state: { on: true, brightness: 50, colorTemperature: 2_703 },
    },
  });
  assert.deepEqual(unusable, ["sofa: colorTempStartup"], "a preset above the range");
  const remote = session.find(([name]) => name === "remote")?.[1] as Record<string, unknown>;
  assert.deepEqual(eventIn(remote), { event: "brightness_up_click" });
});
