import assert from "node:assert/strict";
import { test } from "node:test";
import { until } from "../helpers/until.ts";
import { real, startHome } from "../plugins/ha-discovery/home.ts";

const GOOD = { stat_t: "good", cmd_t: "good/set", uniq_id: "good", name: "Good" };

test(
  "garbage on discovery topics is ignored, counted and named, without other effects",
  real,
  async (t) => {
    const { peer, bridge } = await startHome(t);
    const garbage: (object | string)[] = [
      ...["{", "[]", "null", "NaN", "\u0000\u0001", "5", '"text"', "x".repeat(300_000)],
      ...[{}, { cmd_t: 5 }, { cmd_t: "a/#" }, { cmd_t: "x", name: "n".repeat(5_000), uniq_id: {} }],
      { cmd_t: "x", dev: "no object", avty: "no list", uniq_id: 7 },
      { cmd_t: "x", dev: { ids: [{}], name: { a: 1 } }, qos: "high", uniq_id: "odd" },
      `{"cmd_t": "x", "__proto__": {"polluted": 1}, "uniq_id": "proto"}`,
      `${"[".repeat(50_000)}${"]".repeat(50_000)}`,
      { cmd_t: "x", val_tpl: `{{ ${"(".repeat(5_000)} }}`, stat_t: "x" },
    ];
    for (const [index, payload] of garbage.entries())
      await peer.announce(`switch/g${index}`, payload);
    for (const topic of ["light/x", "device/x", "constructor/x", "__proto__/x", "sensor/a/b"]) {
      await peer.announce(topic, { cmps: { a: { p: "__proto__", x: 1 } }, dev: {}, o: {} });
    }

    await peer.announce("switch/good", GOOD);
    await bridge.device("switch:good");
    await peer.tell("good", "ON");
    await until(() => bridge.state("switch:good")["on"] === true);

    assert.equal(({} as { polluted?: number }).polluted, undefined);
    assert.match(bridge.degraded ?? "", /ignored; the last, homeassistant\/switch\/g\d+\/config: /);
    const reasons = bridge.logs.filter(({ level }) => level === "warn");
    assert.ok(reasons.length >= 5 && reasons.length < 60, String(reasons.length));
    assert.ok([...bridge.devices.values()].every(({ name }) => name.length <= 200));
  },
);

test("ten thousand announcements of one device make one device soon", real, async (t) => {
  const { peer, bridge } = await startHome(t);
  await peer.announce("switch/good", GOOD);
  await bridge.device("switch:good");

  const all: Promise<void>[] = [];
  for (let count = 0; count < 10_000; count++) {
    all.push(peer.announce("switch/good", { ...GOOD, name: `Good ${count}` }, false));
  }
  await Promise.all(all);

  await until(() => bridge.devices.get("switch:good")?.name === "Good 9999", { withinMs: 10_000 });
  assert.equal(bridge.devices.size, 1);
});

test("a component with another component's id is ignored", real, async (t) => {
  const { peer, bridge } = await startHome(t);
  await peer.announce("switch/good", GOOD);
  await bridge.device("switch:good");

  await peer.announce("switch/evil", { ...GOOD, cmd_t: "evil/set", name: "Evil" });
  await peer.announce("switch/last", { ...GOOD, uniq_id: "last" });

  await bridge.device("switch:last");
  assert.equal(bridge.devices.get("switch:good")?.name, "Good");
  const [logged] = bridge.logs.filter(({ sentence }) => sentence === "an announcement was ignored");
  assert.equal(logged?.fields?.["reason"], "another has its unique_id");
  assert.equal(logged?.fields?.["where"], "homeassistant/switch/evil/config");
  assert.equal(bridge.degraded, undefined);
});

test("one refused message does not degrade the module; ten within a minute do", real, async (t) => {
  const { peer, bridge } = await startHome(t);
  await peer.announce("switch/bad", "no JSON");
  await peer.announce("switch/good", GOOD);
  await bridge.device("switch:good");
  assert.equal(bridge.degraded, undefined);

  for (let at = 0; at < 9; at++) await peer.announce(`switch/bad${at}`, "no JSON");

  await until(() => bridge.degraded);
  assert.equal(
    bridge.degraded,
    "10 messages were ignored; the last, homeassistant/switch/bad8/config: it is not JSON",
  );
});

test(
  "invalid payloads on a state topic leave the device's other values readable",
  real,
  async (t) => {
    const { peer, bridge } = await startHome(t);
    await peer.announce("light/lamp", {
      schema: "json",
      stat_t: "lamp",
      cmd_t: "lamp/set",
      uniq_id: "lamp",
      brightness: true,
      sup_clrm: ["hs", "color_temp"],
      effect: true,
      fx_list: ["a"],
    });
    await peer.announce("sensor/t", {
      stat_t: "t",
      unit_of_meas: "°C",
      uniq_id: "t",
      val_tpl: "{{ value_json.a.b }}",
    });
    await until(() => bridge.devices.size === 2);
    const odd: (object | string)[] = [
      ...[
        "",
        "{",
        "NaN",
        "Infinity",
        "[1]",
        "null",
        "true",
        "x".repeat(300_000),
        "y".repeat(10_000_000),
      ],
      { state: "ON", brightness: "many", color: 5, color_temp: {}, effect: ["a"] },
      { state: {}, brightness: -5, color: { h: "x", s: null }, effect: "unknown" },
      { state: "ON", brightness: 1e308, color: { h: 1e9, s: -1e9 }, color_temp: 0 },
      `{"a": {"b": 1e999}}`,
      `${"[".repeat(50_000)}${"]".repeat(50_000)}`,
    ];

    for (const payload of odd) for (const topic of ["lamp", "t"]) await peer.tell(topic, payload);
    await peer.tell("lamp", { state: "OFF", brightness: 51, color: { h: 20, s: 30 } });
    await peer.tell("t", { a: { b: 21.5 } });

    await until(() => bridge.state("sensor:t")["value"] === 21.5);
    assert.match(bridge.degraded ?? "", /^10 messages were ignored; the last, /);
    assert.ok(bridge.logs.some(({ fields }) => fields?.["reason"] === "it is too long"));
    const { on, brightness, color, effect } = bridge.state("light:lamp");
    assert.deepEqual([on, brightness, color], [false, 20, { hue: 20, saturation: 30 }]);
    assert.equal(effect, null);
  },
);

test("a template bomb removes only its component, which is named", real, async (t) => {
  const { peer, bridge } = await startHome(t);
  const bomb = "{% for a in range(900) %}{% for b in range(900) %}x{% endfor %}{% endfor %}";
  await peer.announce("sensor/bomb", { stat_t: "bomb", uniq_id: "bomb", val_tpl: bomb });
  await peer.announce("switch/good", GOOD);
  await until(() => bridge.devices.size === 2);

  await peer.tell("bomb", "1");
  await peer.tell("good", "ON");

  await until(() => bridge.state("switch:good")["on"] === true);
  const logged = bridge.logs.find(({ sentence }) => sentence === "a message was ignored");
  assert.equal(logged?.fields?.["where"], "homeassistant/sensor/bomb/config");
  assert.match(String(logged?.fields?.["reason"]), /^value_template: /);
  assert.equal(bridge.degraded, undefined);
});

test(
  "endless retained garbage on discovery topics is reported, without other effects",
  real,
  async (t) => {
    const { peer, bridge } = await startHome(t);
    await peer.announce("switch/good", GOOD);
    await bridge.device("switch:good");

    const all: Promise<void>[] = [];
    for (let at = 0; at < 2_000; at++) all.push(peer.announce(`switch/g${at}`, "x".repeat(3_000)));
    await Promise.all(all);

    await until(() => bridge.degraded?.startsWith("1000 messages were ignored"));
    await peer.tell("good", "ON");
    await until(() => bridge.state("switch:good")["on"] === true);
    assert.equal(bridge.devices.size, 1);
  },
);
