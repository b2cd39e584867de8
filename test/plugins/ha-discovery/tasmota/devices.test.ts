import assert from "node:assert/strict";
import { test } from "node:test";
import { faultsOfVocabulary } from "@mantel/plugin-sdk/vocabulary";
import { TASMOTA_CONFIG } from "../../../fakes/tasmota.ts";
import { idOf, MAC, openTasmotaHome } from "./tasmota-home.ts";

const DISCOVERY = `tasmota/discovery/${MAC}`;

test("each relay is a switch with its name, and the first has the readings of the device", () => {
  const home = openTasmotaHome();

  home.add({}, { ENERGY: { Power: 12, Total: 3.5, Today: 0.2, Factor: 0.93 } });

  const [lamp, radio] = home.devices();
  assert.deepEqual(home.devices().length, 2);
  assert.deepEqual(
    [lamp?.nativeId, lamp?.kind, lamp?.name, lamp?.available],
    [idOf("switch", "relay-1"), "switch", "Strip Lamp", true],
  );
  assert.deepEqual(lamp?.info, {
    manufacturer: "Tasmota",
    model: "Sonoff Dual R3",
    serial: MAC,
    firmware: "14.2.0",
  });
  assert.deepEqual(lamp?.state, {
    on: false,
    power: 12,
    energy: 3.5,
    powerFactor: 93,
    signal: -60,
  });
  assert.deepEqual(lamp?.extra?.state, { energyToday: 0.2 });
  assert.deepEqual(faultsOfVocabulary("switch", lamp?.capabilities ?? {}), []);
  assert.deepEqual(Object.keys(radio?.capabilities ?? {}), ["on"]);
});

test("a command of one relay does not touch the other", async () => {
  const home = openTasmotaHome();
  home.add();

  await home.send(idOf("switch", "relay-2"), { on: true });

  assert.deepEqual(
    home.devices().map(({ state }) => state["on"]),
    [false, true],
  );
  assert.equal(home.sent.at(-1), "cmnd/strip/POWER2 ON");
});

test("the announcements of device and sensors come in any order, and sensors may change", () => {
  const home = openTasmotaHome();
  const announce = (name: string, value: object) =>
    home.receive({ topic: `${DISCOVERY}/${name}`, payload: JSON.stringify(value), retain: true });
  const names = () => Object.keys(home.devices()[0]?.capabilities ?? {}).toSorted();

  announce("sensors", { sn: { DHT11: { Temperature: 21 }, TempUnit: "C" }, ver: 1 });
  assert.deepEqual(home.devices(), []);
  announce("config", TASMOTA_CONFIG);
  assert.deepEqual(names(), ["on", "signal", "temperature"]);
  announce("sensors", { sn: { DHT11: { Temperature: 21, Humidity: 40 }, TempUnit: "C" }, ver: 1 });
  assert.deepEqual(names(), ["humidity", "on", "signal", "temperature"]);
  home.receive({ topic: `${DISCOVERY}/sensors`, payload: "", retain: true });
  assert.deepEqual(names(), ["on", "signal"]);
  home.receive({ topic: `${DISCOVERY}/config`, payload: "", retain: true });
  assert.deepEqual(home.devices(), []);
});

test("a device keeps its state when it announces itself again", () => {
  const home = openTasmotaHome();
  const fake = home.add({}, { DHT11: { Temperature: 21 }, TempUnit: "C" });
  fake.report();

  fake.sensors = { ...fake.sensors, Time: "later" };
  fake.announce();

  assert.equal(home.device(idOf("switch", "relay-1")).state["temperature"], 21);
});

test("a device is asked for its state when it comes online, once", () => {
  const home = openTasmotaHome();
  const fake = home.add();
  assert.deepEqual(home.sent, ["cmnd/strip/STATE ", "cmnd/strip/STATUS 10"]);

  fake.setOnline(true);
  fake.report();
  assert.equal(home.sent.length, 2);
  fake.setOnline(false);
  assert.deepEqual(
    home.devices().map(({ available }) => available),
    [false, false],
  );
  fake.setOnline(true);

  assert.equal(home.sent.length, 4);
  assert.deepEqual(
    home.devices().map(({ available }) => available),
    [true, true],
  );
});

test("a device that sleeps stays available", () => {
  const home = openTasmotaHome();

  home.add({ dslp: 1 }).setOnline(false);

  assert.ok(home.devices().every(({ available }) => available));
});

for (const [pattern, command, stat] of [
  ["%prefix%/%topic%/", "cmnd/strip/", "stat/strip/"],
  ["home/%topic%/%prefix%", "home/strip/cmnd/", "home/strip/stat/"],
  [
    "%hostname%/%id%/%prefix%/",
    "tasmota-49A3BC-0956/DC4F2249A3BC/cmnd/",
    "tasmota-49A3BC-0956/DC4F2249A3BC/stat/",
  ],
  ["x/%topic%/", "x/strip/cmnd/", "x/strip/"],
  ["%prefix%//%topic%/#", "cmnd/strip/", "stat/strip/"],
] as const) {
  test(`topics follow the pattern ${pattern}`, () => {
    const home = openTasmotaHome();
    const config = JSON.stringify({ ...TASMOTA_CONFIG, ft: pattern });
    home.receive({ topic: `${DISCOVERY}/config`, payload: config, retain: true });
    const [known] = home.announcements.components;

    assert.ok(known?.topics.includes(`${stat}RESULT`), known?.topics.join(" "));
    assert.equal(known?.handler.write?.({ on: true }, {})[0]?.topic, `${command}POWER1`);
  });
}

test("prefixes, texts and answers are those of the device", async () => {
  const home = openTasmotaHome();
  home.add({
    tp: ["do", "did", "told"],
    state: ["aus", "an", "um", "halten"],
    onln: "da",
    ofln: "weg",
    so: { ...TASMOTA_CONFIG.so, 4: 1 },
  });

  await home.send(idOf("switch", "relay-1"), { on: true });

  assert.equal(home.sent.at(-1), "do/strip/POWER1 an");
  assert.equal(home.device(idOf("switch", "relay-1")).state["on"], true);
});

test("a single relay reports without a number, and may be a light", async () => {
  const home = openTasmotaHome();
  home.add({ rl: [1], fn: [null], so: { 30: 1 } });
  const id = idOf("light", "relay-1");

  await home.send(id, { on: true });

  const { name, kind, state } = home.device(id);
  assert.deepEqual([name, kind, state["on"]], ["Strip", "light", true]);
});

const LIGHT = { rl: [2], fn: ["Light"] };
const LIGHT_ID = idOf("light", "light-1");

for (const [channels, names] of [
  [1, ["on", "brightness"]],
  [2, ["on", "brightness", "colorTemperature"]],
  [3, ["on", "brightness", "color", "effect"]],
  [4, ["on", "brightness", "color", "effect"]],
  [5, ["on", "brightness", "colorTemperature", "color", "effect"]],
] as const) {
  test(`a light of ${channels} channels has ${names.join(", ")}`, () => {
    const home = openTasmotaHome();
    home.add({ ...LIGHT, lt_st: channels });

    const { capabilities } = home.device(LIGHT_ID);

    assert.deepEqual(Object.keys(capabilities), [...names, "signal"]);
    assert.deepEqual(faultsOfVocabulary("light", capabilities), []);
  });
}

test("a light is dimmed, coloured, white and off", async () => {
  const home = openTasmotaHome();
  home.add({ ...LIGHT, lt_st: 5 });
  const send = async (command: Parameters<typeof home.send>[1]) => {
    home.sent.length = 0;
    await home.send(LIGHT_ID, command);
    return home.sent;
  };
  const state = () => home.device(LIGHT_ID).state;

  assert.deepEqual(await send({ on: true, brightness: 31 }), [
    "cmnd/strip/Dimmer 31",
    "cmnd/strip/POWER1 ON",
  ]);
  assert.deepEqual([state()["on"], state()["brightness"]], [true, 31]);
  assert.deepEqual(await send({ color: { hue: 200, saturation: 80 } }), [
    "cmnd/strip/HsbColor1 200",
    "cmnd/strip/HsbColor2 80",
  ]);
  assert.deepEqual(state()["color"], { hue: 200, saturation: 80 });
  assert.deepEqual(await send({ colorTemperature: 4000 }), ["cmnd/strip/CT 250"]);
  assert.deepEqual([state()["colorTemperature"], state()["color"]], [4000, null]);
  assert.deepEqual(await send({ effect: "Random" }), ["cmnd/strip/Scheme 4"]);
  assert.deepEqual(await send({ brightness: 0 }), ["cmnd/strip/POWER1 OFF"]);
  assert.deepEqual([state()["on"], state()["brightness"]], [false, 31]);
});

test("colour and white that are not linked are two lights, and channels may be lights each", async () => {
  const home = openTasmotaHome();
  home.add({ rl: [1, 2, 2], lk: 0, lt_st: 5, fn: ["Relay", "Color", "White"] });
  const [colored, white] = [idOf("light", "light-2"), idOf("light", "light-3")];
  home.add({
    mac: "AABBCCDDEEFF",
    t: "pwm",
    rl: [2, 2],
    fn: [],
    so: { ...TASMOTA_CONFIG.so, 68: 1 },
  });

  assert.ok("color" in home.device(colored).capabilities);
  assert.ok(!("color" in home.device(white).capabilities));
  assert.ok("colorTemperature" in home.device(white).capabilities);
  await home.send(white, { brightness: 20 });
  assert.equal(home.sent.at(-1), "cmnd/strip/Dimmer2 20");
  assert.equal(home.device(white).state["on"], true);
  assert.equal(home.device(colored).state["on"], false);
  await home.send(idOf("light", "light-2", "AABBCCDDEEFF"), { brightness: 60 });
  assert.equal(home.sent.at(-1), "cmnd/pwm/Channel2 60");
});

test("a ceiling fan has a light and three speeds", async () => {
  const home = openTasmotaHome();
  home.add({ if: 1, rl: [2, 0, 0, 0], fn: ["Ceiling", null] });
  const [light, fan] = [idOf("light", "relay-1"), idOf("fan", "fan")];

  await home.send(fan, { speed: 40 });
  assert.equal(home.sent.at(-1), "cmnd/strip/FanSpeed 2");
  assert.deepEqual(
    [home.device(fan).state["on"], Number(home.device(fan).state["speed"]).toFixed(1)],
    [true, "66.7"],
  );
  await home.send(fan, { on: false });
  assert.equal(home.device(fan).state["on"], false);
  await home.send(light, { on: true });
  assert.equal(home.device(light).state["on"], true);
  assert.equal(home.device(fan).state["on"], false);
});

test("a shutter has two relays, a position and slats", async () => {
  const home = openTasmotaHome();
  home.add({
    rl: [3, 3, 3, 3, 1],
    fn: [],
    sho: [0, 1],
    sht: [
      [-90, 90, 10],
      [0, 0, 0],
    ],
  });
  const [first, second] = [idOf("cover", "shutter-1"), idOf("cover", "shutter-2")];
  const state = (id: string) => home.device(id).state;

  assert.deepEqual(Object.keys(home.device(first).capabilities).slice(0, 6), [
    "position",
    "tilt",
    "action",
    "open",
    "close",
    "stop",
  ]);
  assert.ok(!("tilt" in home.device(second).capabilities));
  assert.equal(state(first)["position"], 100);
  await home.send(first, { position: 40 });
  assert.deepEqual([state(first)["position"], state(first)["action"]], [40, "stopped"]);
  await home.send(first, { tilt: 75 });
  assert.equal(home.sent.at(-1), "cmnd/strip/ShutterTilt1 45");
  assert.equal(state(first)["tilt"], 75);
  await home.send(second, { position: 30 });
  assert.equal(home.sent.at(-1), "cmnd/strip/ShutterPosition2 70");
  assert.equal(state(second)["position"], 30);
  await home.send(first, { open: true });
  await home.send(first, { stop: true });
  assert.equal(home.sent.at(-1), "cmnd/strip/ShutterStop1 ");
  assert.equal(home.devices().length, 3);
});

test("buttons and pressed switches are events, and contacts have a state", () => {
  const home = openTasmotaHome();
  const fake = home.add({
    rl: [],
    btn: [1, 0],
    swc: [1, 3],
    swn: ["Window", null],
    fn: [],
  });
  const id = `device:tasmota-${MAC}`;
  const retained = { topic: "stat/strip/RESULT", payload: '{"Button1":{"Action":"SINGLE"}}' };

  fake.press("Button1", "DOUBLE");
  fake.press("Button2", "SINGLE");
  fake.press("Switch2", "HOLD");
  fake.press("Switch1", "ON");
  home.receive({ ...retained, retain: true });

  assert.deepEqual(home.happenings, [
    { nativeId: id, event: "button1 double" },
    { nativeId: id, event: "switch2 hold" },
  ]);
  const { kind, state } = home.device(id);
  assert.deepEqual(
    [kind, state["lastAction"], state["active"]],
    ["binary-sensor", "switch2 hold", true],
  );
});

test("sensors have the names and units of the vocabulary", () => {
  const home = openTasmotaHome();
  home.add(
    { rl: [], fn: [], bat: 1 },
    {
      "DS18B20-1": { Id: "0316", Temperature: 68 },
      AM2301: { Temperature: 50, Humidity: 40, DewPoint: 41 },
      BMP280: { Pressure: 30, SeaPressure: 30.1 },
      ENERGY: { Voltage: [230, 231], Current: [1, 2], Total: 5 },
      SDS0X1: { "PM2.5": 7, PM10: 9 },
      SR04: { Distance: 150 },
      TempUnit: "F",
      PressureUnit: "inHg",
      ANALOG: { A0: 512 },
    },
  );

  const { capabilities, state, extra } = home.device(`device:tasmota-${MAC}`);

  assert.deepEqual(faultsOfVocabulary("sensor", capabilities), []);
  const { temperature, humidity, dewPoint, pressure, voltage, current, energy } = state;
  assert.deepEqual([humidity, dewPoint, pressure], [40, 5, 1015.91661]);
  assert.ok([10, 20].includes(Number(temperature)));
  assert.deepEqual([voltage, current, energy, state["distance"]], [230, 1, 5, 1.5]);
  assert.deepEqual([state["pm25"], state["pm10"], state["signal"]], [7, 9, -60]);
  assert.equal(extra?.state["analogA0"], 512);
  assert.equal(extra?.state["energyVoltage2"], 231);
  assert.ok("battery" in capabilities);
});

test("a bad announcement is refused with a reason, and does not affect other devices", () => {
  const home = openTasmotaHome();
  const bad: readonly (readonly [kind: string, payload: string])[] = [
    ["config", "no JSON"],
    ["config", "[]"],
    ["config", JSON.stringify({ ...TASMOTA_CONFIG, mac: "000000000000" })],
    ["config", JSON.stringify({ mac: MAC })],
    ["config", JSON.stringify({ ...TASMOTA_CONFIG, ft: 5, tp: ["cmnd"] })],
    ["sensors", "no JSON"],
    ["sensors", '{"sn": 5}'],
  ];

  for (const [kind, payload] of bad) {
    home.receive({ topic: `${DISCOVERY}/${kind}`, payload, retain: true });
  }
  home.add({ mac: "AABBCCDDEEFF", t: "good" });

  assert.equal(home.devices().length, 2);
  const reasons = home.log.records.map(({ fields }) => fields["reason"]);
  assert.deepEqual(reasons, [
    ...["it is not JSON", "it is not a JSON object", "the mac is not the one of the topic"],
    ...["a Tasmota needs t, ft and tp", "sn must be an object"],
  ]);
});

test("announcements with wildcards in topics, wrong types or endless lists make no device", () => {
  const home = openTasmotaHome();
  const many = Array.from({ length: 5_000 }, () => 1);
  home.add({ t: "a+b" });
  const odd = { mac: "AABBCCDDEEFF", t: "odd", rl: "x", so: 5, fn: {}, swc: [{}], btn: null };
  const payload = JSON.stringify({ ...TASMOTA_CONFIG, ...odd, sht: [1] });
  home.receive({ topic: "tasmota/discovery/AABBCCDDEEFF/config", payload, retain: true });
  home.add({ mac: "AABBCCDDEE00", t: "big", rl: many, swc: many, btn: many, fn: [] });
  const deep = JSON.parse(`${'{"a":'.repeat(30)}1${"}".repeat(30)}`) as object;
  home.add(
    { mac: "AABBCCDDEE01", t: "deep", rl: [1], fn: [] },
    {
      deep,
      __proto__: 1,
      list: many,
      text: { x: "y".repeat(5_000) },
    },
  );

  const count = [...home.announcements.components].length;
  assert.ok(count < 32 * 4 + 200, String(count));
  assert.ok(!home.devices().some(({ nativeId }) => nativeId.includes(MAC)));
});

test("a topic that is refused is not commanded", () => {
  const home = openTasmotaHome(["cmnd/strip/#"]);

  home.add({}, { DHT11: { Temperature: 20 }, TempUnit: "C" });

  assert.deepEqual(home.sent, []);
  const [device] = home.devices();
  assert.deepEqual(Object.keys(device?.capabilities ?? {}).toSorted(), ["signal", "temperature"]);
});

test("answers without a known field change nothing", () => {
  const home = openTasmotaHome();
  home.add({ ...LIGHT, lt_st: 5 });
  const before = home.device(LIGHT_ID).state;

  for (const payload of [
    ...["", "no JSON", "[1]", "5", '{"POWER": 5}', '{"POWER": {"x": 1}}', '{"HSBColor": "a,b"}'],
    ...['{"HSBColor": 5}', '{"Scheme": 99}', '{"Dimmer": "many"}', '{"CT": null}'],
  ]) {
    home.receive({ topic: "stat/strip/RESULT", payload });
  }

  assert.deepEqual(home.device(LIGHT_ID).state, before);
});
