import assert from "node:assert/strict";
import { after, test } from "node:test";
import { parseDescriptions } from "../../../host/devices/parse-devices.ts";
import { type ListedDevice, listedLamp } from "../../fakes/zigbee2mqtt.ts";
import { startMosquitto } from "../../helpers/mosquitto.ts";
import { watchResources } from "../../helpers/resources.ts";
import { until } from "../../helpers/until.ts";
import { openFake, openNetwork, real, startBridge } from "./start-bridge.ts";

after(watchResources());

test("a recorded network becomes devices and a group that the host accepts", real, async (t) => {
  const { bridge } = await openNetwork(t);
  await until(() => bridge.devices.size === 8);

  const devices = [...bridge.devices.values()];

  assert.deepEqual(
    devices.map(({ name, kind }) => `${name} ${kind}`),
    [
      "sofa light",
      "living/colour light",
      "plug plug",
      "weather sensor",
      "motion binary-sensor",
      "remote button",
      "blind cover",
      "lounge group",
    ],
  );
  assert.equal(parseDescriptions("z", devices).length, 8);
  assert.deepEqual(bridge.devices.get(bridge.idOf("sofa"))?.groups, ["lounge"]);
});

test("a state in a topic with slashes becomes the state of its device", real, async (t) => {
  const { bridge, fake } = await openNetwork(t);
  const id = bridge.idOf("living/colour");

  fake.tell("living/colour", { state: "ON", brightness: 127, color: { x: 0.64, y: 0.33 } });

  await until(() => bridge.state(id)["on"] === true);
  assert.equal(bridge.state(id)["brightness"], 50);
  assert.deepEqual(bridge.state(id)["color"], { hue: 0, saturation: 100 });
});

test("a command is confirmed by the matching state, not by an older one", real, async (t) => {
  const { bridge, fake } = await openNetwork(t, {
    devices: [listedLamp(1)],
    groups: [],
    answerMs: 80,
  });
  fake.tell("lamp 1", { state: "ON", brightness: 3 });
  fake.repeatsFirst = true;
  const id = bridge.idOf("lamp 1");
  await until(() => bridge.state(id)["on"] === true);

  await bridge.command(id, { on: true, brightness: 62 });

  assert.equal(bridge.state(id)["brightness"], 62);
  assert.deepEqual(fake.received, [{ name: "lamp 1", payload: { state: "ON", brightness: 157 } }]);
});

test("a command that turns a lamp off sends no level", real, async (t) => {
  const { bridge, fake } = await openNetwork(t, { devices: [listedLamp(1)], groups: [] });

  await bridge.command(bridge.idOf("lamp 1"), { on: false, brightness: 40 });

  assert.deepEqual(fake.received, [{ name: "lamp 1", payload: { state: "OFF" } }]);
});

test("the error of Zigbee2MQTT is the answer to a command", real, async (t) => {
  const { bridge, fake } = await openNetwork(t, {
    devices: [listedLamp(1), listedLamp(2)],
    groups: [],
  });
  fake.unreachable.add("lamp 1");

  await assert.rejects(bridge.command(bridge.idOf("lamp 1"), { on: true }), {
    code: "deadline_passed",
    message: /^lamp 1: it does not answer; .*\(ZCL command 0x0 timed out after 10000ms\)$/,
  });
  await bridge.command(bridge.idOf("lamp 2"), { on: true });
});

test(
  "an error that names an endpoint is the answer to a command of its device",
  real,
  async (t) => {
    const { bridge, fake } = await openNetwork(t, { devices: [listedLamp(1)], groups: [] });
    fake.isMute = true;

    const refused = assert.rejects(bridge.command(bridge.idOf("lamp 1"), { on: true }), {
      code: "invalid",
      message: /lamp 1\/left: no such endpoint/,
    });
    fake.publish("bridge/logging", {
      level: "error",
      message: "z2m: Publish 'set' 'state' to 'lamp 1/left' failed: 'no such endpoint'",
    });

    await refused;
  },
);

test(
  "a command to a device that never answers fails with the bridge's deadline",
  real,
  async (t) => {
    const { bridge, fake } = await openNetwork(t, { devices: [listedLamp(1)], groups: [] });
    fake.isMute = true;

    await assert.rejects(bridge.command(bridge.idOf("lamp 1"), { on: true }), {
      code: "deadline_passed",
    });
  },
);

test(
  "presses are events, two equal ones count twice, and a retained one does not count",
  real,
  async (t) => {
    const { bridge, fake, broker } = await openNetwork(t);
    const nativeId = bridge.idOf("remote");

    fake.publish("remote", { action: "toggle" }, true);
    fake.tell("remote", { action: "toggle", action_side: 2 });
    await until(() => bridge.events.length === 2);

    assert.deepEqual(bridge.events, [
      { nativeId, event: "toggle" },
      { nativeId, event: "toggle", data: { side: 2 } },
    ]);
    assert.equal(bridge.state(nativeId)["lastAction"], "toggle");
    const later = await startBridge(t, broker.url);
    await until(() => later.devices.size === 8 && later.state(nativeId)["lastAction"]);
    assert.deepEqual(later.events, []);
  },
);

test("a rename keeps the device, and commands use the new name", real, async (t) => {
  const { bridge, fake } = await openNetwork(t, {
    devices: [listedLamp(1), listedLamp(2)],
    groups: [],
  });
  const id = bridge.idOf("lamp 1");
  fake.tell("lamp 1", { state: "ON" });
  await until(() => bridge.state(id)["on"] === true);

  fake.rename("lamp 1", "desk");

  await until(() => bridge.devices.get(id)?.name === "desk");
  assert.equal(bridge.state(id)["on"], true);
  await bridge.command(id, { on: false });
  assert.equal(fake.received[0]?.name, "desk");
});

test("a device that leaves is removed, and one that joins is added", real, async (t) => {
  const { bridge, fake } = await openNetwork(t, {
    devices: [listedLamp(1), listedLamp(2)],
    groups: [],
  });
  const id = bridge.idOf("lamp 1");

  fake.leave("lamp 1");
  await until(() => bridge.devices.size === 1);
  fake.join(listedLamp(1, "again"));

  await until(() => bridge.devices.get(id)?.name === "again");
});

test("a device keeps its description while it is interviewed again", real, async (t) => {
  const { bridge, fake } = await openNetwork(t, { devices: [listedLamp(1)], groups: [] });
  const id = bridge.idOf("lamp 1");

  fake.devices = [{ ...listedLamp(1), definition: null }, listedLamp(2)];
  fake.list();

  await until(() => bridge.devices.size === 2);
  assert.equal(bridge.devices.get(id)?.kind, "light");
});

test("an unreachable device is shown as unavailable", real, async (t) => {
  const { bridge, fake } = await openNetwork(t);
  const id = bridge.idOf("weather");

  fake.setAvailability("weather", "offline");

  await until(() => bridge.devices.get(id)?.available === false);
  assert.equal(bridge.devices.get(bridge.idOf("sofa"))?.available, true);
});

test(
  "devices are unavailable while Zigbee2MQTT is down, and available when it returns",
  real,
  async (t) => {
    const { bridge, fake, broker } = await openNetwork(t, { devices: [listedLamp(1)], groups: [] });
    const id = bridge.idOf("lamp 1");

    await fake.kill();
    await until(() => bridge.devices.get(id)?.available === false);
    assert.equal(bridge.degraded, "Zigbee2MQTT is offline");
    await assert.rejects(bridge.command(id, { on: true }), { code: "bridge_down" });
    openFake(t, broker.url, { devices: [listedLamp(1)], groups: [] });

    await until(() => bridge.devices.get(id)?.available);
    assert.equal(bridge.degraded, undefined);
  },
);

test("commands while Zigbee2MQTT starts wait until it takes them", real, async (t) => {
  const options = { devices: [listedLamp(1)], groups: [] };
  const { bridge, fake, broker } = await openNetwork(t, options);
  const id = bridge.idOf("lamp 1");
  await fake.kill();
  await until(() => bridge.devices.get(id)?.available === false);
  const next = openFake(t, broker.url, { ...options, startMs: 500 });
  await until(() => bridge.devices.get(id)?.available);

  await bridge.command(id, { on: true });

  assert.deepEqual(next.received, [{ name: "lamp 1", payload: { state: "ON" } }]);
});

test(
  "a Zigbee2MQTT that sends no list after its start gets commands after two seconds",
  real,
  async (t) => {
    const { bridge, fake } = await openNetwork(t, { devices: [listedLamp(1)], groups: [] });
    const id = bridge.idOf("lamp 1");
    fake.publish("bridge/state", { state: "offline" }, true);
    await until(() => bridge.devices.get(id)?.available === false);
    fake.publish("bridge/state", { state: "online" }, true);
    await until(() => bridge.devices.get(id)?.available);

    await bridge.command(id, { on: true });

    assert.equal(bridge.state(id)["on"], true);
  },
);

test("capabilities that are left out are named in one line of the log", real, async (t) => {
  const { exposes, ...definition } = listedLamp(1)["definition"] as { exposes: object[] };
  const tuning = Array.from({ length: 300 }, (_, at) => ({
    type: "numeric",
    name: `tuning_${at}`,
    property: `tuning_${at}`,
    access: 3,
    category: "config",
  }));
  const lamp = {
    ...listedLamp(1),
    definition: { ...definition, exposes: [...exposes, ...tuning] },
  };
  const { bridge, fake } = await openNetwork(t, { devices: [lamp], groups: [] });

  fake.join(listedLamp(2));
  await until(() => bridge.devices.size === 2);

  const told = bridge.logs.filter(({ sentence }) =>
    sentence.startsWith("capabilities of a device"),
  );
  assert.deepEqual(
    told.map(({ fields }) => [fields?.["device"], fields?.["count"]]),
    [["lamp 1", 102]],
  );
  assert.match(String(told[0]?.fields?.["names"]), /^tuning198, tuning199, .*tuning299$/);
});

/** A cover that takes commands, and reports only what it is made to. */
function listedCover(features: readonly object[] = COVER): ListedDevice {
  const definition = { vendor: "v", model: "C1", exposes: [{ type: "cover", features }] };
  return { ...listedLamp(1, "blind"), definition };
}

const COVER = [
  {
    type: "enum",
    name: "state",
    property: "state",
    access: 3,
    values: ["OPEN", "CLOSE", "STOP"],
  },
  {
    type: "numeric",
    name: "position",
    property: "position",
    access: 3,
    value_min: 0,
    value_max: 100,
    unit: "%",
  },
];

test(
  "a cover that never reports is as it was told once the broker has the message",
  real,
  async (t) => {
    const { bridge, fake } = await openNetwork(t, { devices: [listedCover()], groups: [] });
    fake.isSilent = true;
    const id = bridge.idOf("blind");

    await bridge.command(id, { position: 40 });
    assert.equal(bridge.state(id)["position"], 40);
    await until(() => bridge.devices.get(id)?.assumed === true);
    await bridge.command(id, { open: true });
    assert.equal(bridge.state(id)["position"], 100);
    await bridge.command(id, { stop: true });

    await until(() => fake.received.length === 3);
    assert.deepEqual(
      fake.received.map(({ payload }) => payload),
      [{ position: 40 }, { state: "OPEN" }, { state: "STOP" }],
    );
    const next = await startBridge(t, fake.url, { handedOver: await bridge.stop() });
    await until(() => next.devices.get(id)?.assumed === true);
    fake.tell("blind", { position: 7 });
    await until(() => next.devices.get(id)?.assumed === undefined);
    assert.equal(next.state(id)["position"], 7);
  },
);

test("a cover that has reported once is waited for", real, async (t) => {
  const { bridge, fake } = await openNetwork(t, { devices: [listedCover()], groups: [] });
  const id = bridge.idOf("blind");
  fake.tell("blind", { position: 7 });
  await until(() => bridge.state(id)["position"] === 7);
  fake.isSilent = true;

  await assert.rejects(bridge.command(id, { position: 40 }), { code: "deadline_passed" });
  assert.equal(bridge.state(id)["position"], 7);
});

test("a cover that has reported once may be stopped without a report", real, async (t) => {
  const { bridge, fake } = await openNetwork(t, { devices: [listedCover()], groups: [] });
  const id = bridge.idOf("blind");
  fake.tell("blind", { position: 7 });
  await until(() => bridge.state(id)["position"] === 7);
  fake.isSilent = true;

  await bridge.command(id, { stop: true });

  assert.deepEqual(fake.received[0]?.payload, { state: "STOP" });
});

test("the broker refuses a command to a cover that never reports", real, async (t) => {
  const { bridge, fake, broker } = await openNetwork(t, { devices: [listedCover()], groups: [] });
  fake.isSilent = true;
  const id = bridge.idOf("blind");

  await broker.stop();
  await assert.rejects(bridge.command(id, { position: 40 }), { code: "bridge_down" });

  assert.equal(bridge.devices.get(id)?.assumed, undefined);
});

test(
  "a command of one part reaches no other, and the states of parts are apart",
  real,
  async (t) => {
    const { bridge, fake } = await openNetwork(t, { devices: [listedFan()], groups: [] });
    const id = bridge.idOf("fan");
    fake.tell("fan", { fan_state: "ON", fan_mode: "low", state: "OFF", brightness: 0 });
    await until(() => bridge.state(id)["on"] === true);

    await bridge.command(id, {}, { parts: { light: { on: true, brightness: 50 } } });

    const { state, parts } = bridge.devices.get(id) ?? {};
    assert.deepEqual(state, { on: true, speed: 50 });
    assert.deepEqual(parts?.[0]?.state, { on: true, brightness: 50 });
    assert.deepEqual(fake.received[0]?.payload, { state: "ON", brightness: 127 });
  },
);

/** A ceiling fan with a light. */
function listedFan(): ListedDevice {
  const { exposes } = listedLamp(1)["definition"] as { exposes: object[] };
  const onOff = { value_on: "ON", value_off: "OFF", access: 7 };
  const features = [
    { type: "binary", name: "state", property: "fan_state", ...onOff },
    { type: "enum", name: "mode", property: "fan_mode", access: 7, values: ["low", "high"] },
  ];
  const definition = { vendor: "v", model: "F1", exposes: [{ type: "fan", features }, ...exposes] };
  return { ...listedLamp(1, "fan"), definition };
}

test("a list goes out as a list", real, async (t) => {
  const { exposes, ...definition } = listedLamp(1)["definition"] as { exposes: object[] };
  const gradient = {
    type: "list",
    name: "gradient",
    property: "gradient",
    access: 7,
    item_type: { type: "text", name: "hex" },
  };
  const lamp = { ...listedLamp(1), definition: { ...definition, exposes: [...exposes, gradient] } };
  const { bridge, fake } = await openNetwork(t, { devices: [lamp], groups: [] });

  await bridge.command(bridge.idOf("lamp 1"), {}, { extra: { gradient: "#ff0000, #00ff00" } });

  assert.deepEqual(fake.received[0]?.payload, { gradient: ["#ff0000", "#00ff00"] });
});

test("a request that Zigbee2MQTT refuses is in the log in plain words", real, async (t) => {
  const { bridge, fake } = await openNetwork(t, { devices: [listedLamp(1)], groups: [] });
  const error = "OTA update of 'lamp 1' failed (No network route)";

  fake.publish("bridge/response/device/ota_update/update", { status: "error", error, data: {} });

  const isTold = ({ sentence }: { sentence: string }) =>
    sentence === "Zigbee2MQTT refused a request";
  const told = await until(() => bridge.logs.find(isTold));
  assert.deepEqual(told.fields, {
    request: "device/ota_update/update",
    reason: `it is out of range or without power (${error})`,
  });
});

test("scenes of devices and groups are recalled by one message", real, async (t) => {
  const scenes = [{ id: 3, name: "Evening" }];
  const lamp = { ...listedLamp(1), endpoints: { "1": { scenes } } };
  const members = [{ ieee_address: lamp.ieee_address, endpoint: 1 }];
  const { bridge, fake } = await openNetwork(t, {
    devices: [lamp],
    groups: [{ id: 1, friendly_name: "lounge", members, scenes }],
  });
  await until(() => bridge.scenes.length === 2);

  for (const { nativeId } of bridge.scenes) await bridge.activateScene(nativeId);

  assert.deepEqual(fake.received, [
    { name: "lamp 1", payload: { scene_recall: 3 } },
    { name: "lounge", payload: { scene_recall: 3 } },
  ]);
});

test(
  "a scene whose device does not answer fails with the error of Zigbee2MQTT",
  real,
  async (t) => {
    const scenes = [{ id: 3, name: "Evening" }];
    const lamp = { ...listedLamp(1), endpoints: { "1": { scenes } } };
    const { bridge, fake } = await openNetwork(t, { devices: [lamp], groups: [] });
    const scene = await until(() => bridge.scenes[0]);
    fake.unreachable.add("lamp 1");

    await assert.rejects(bridge.activateScene(scene.nativeId), {
      code: "deadline_passed",
      message: /^lamp 1: it does not answer; .*\(ZCL command 0x0 timed out after 10000ms\)$/,
    });
  },
);

test("a reload shows the same devices and states immediately", real, async (t) => {
  const { bridge, fake, broker } = await openNetwork(t);
  fake.tell("weather", { temperature: 21.5, humidity: 40 });
  const id = bridge.idOf("weather");
  await until(() => bridge.state(id)["temperature"] === 21.5);
  const before = [...bridge.devices.values()];

  const handedOver = await bridge.stop();
  await broker.stop();
  const next = await startBridge(t, broker.url, { handedOver });

  assert.deepEqual([...next.devices.values()], before);
});

test("the state is requested from awake devices, not from sleeping ones", real, async (t) => {
  const { fake } = await openNetwork(t);

  await until(() => fake.asked.includes("plug"));

  assert.deepEqual(
    fake.asked.filter((name) => ["weather", "motion", "remote"].includes(name)),
    [],
  );
});

test("without a Zigbee2MQTT the bridge reports what is missing", real, async (t) => {
  const { url } = await startMosquitto(t);
  const bridge = await startBridge(t, url);

  await assert.rejects(bridge.command("0x1", { on: true }), { code: "bridge_down" });
  assert.equal(bridge.devices.size, 0);
});
