import assert from "node:assert/strict";
import { test } from "node:test";
import { toPercent } from "@mantel/plugin-sdk";
import { startPlugin } from "@mantel/plugin-sdk/testing";
import plugin from "../../../plugins/home-assistant/index.ts";
import { DOMAINS } from "../../../plugins/home-assistant/options.ts";
import { FakeHomeAssistant } from "../../fakes/home-assistant.ts";
import { onTestEnd } from "../../helpers/on-test-end.ts";
import { until } from "../../helpers/until.ts";
import { startHome } from "./home.ts";

test("after an outage of Home Assistant, devices are kept and current again", async (t) => {
  const { fake, bridge } = await startHome(t);
  const known = [...bridge.devices.keys()];

  await fake.kill();
  await until(() => bridge.degraded);
  await assert.rejects(bridge.command("reg-sofa", { on: false }), { code: "bridge_down" });
  assert.match(bridge.degraded ?? "", /went away|cannot be reached: nothing answers/);
  assert.ok([...bridge.devices.values()].every(({ available }) => available === false));
  fake.change("light.sofa", { brightness: 255 });
  await fake.listen();
  await until(() => bridge.degraded === undefined);

  assert.deepEqual([...bridge.devices.keys()], known);
  assert.ok([...bridge.devices.values()].every(({ available }) => available === true));
  assert.equal(bridge.state("reg-sofa")["brightness"], 100);
});

test("a very short disconnection is not reported, and the state is current again immediately", async (t) => {
  const { fake, bridge } = await startHome(t);

  for (let round = 1; round <= 4; round++) {
    fake.drop();
    fake.change("light.sofa", { brightness: round * 20 });
    await until(() => bridge.state("reg-sofa")["brightness"] === toPercent(round * 20, 255), {
      withinMs: 5_000,
    });
    assert.equal(bridge.degraded, undefined);
  }

  assert.ok([...bridge.devices.values()].every(({ available }) => available === true));
});

test("a refused token is reported once and not tried again", async (t) => {
  const fake = await FakeHomeAssistant.start(t);
  const config = { url: fake.url, token: "an-old-one", domains: [...DOMAINS] };

  const bridge = await startPlugin(plugin, { config });
  onTestEnd(t, async () => void (await bridge.stop()));
  await until(() => bridge.degraded);

  assert.match(bridge.degraded ?? "", /refuses the access token: make a new one/);
  assert.equal(fake.signIns, 1);
});

test(
  "a Home Assistant that accepts connections and stays silent is disconnected",
  { timeout: 20_000 },
  async (t) => {
    const fake = await FakeHomeAssistant.start(t);
    fake.faults.silent = true;
    const config = { url: fake.url, token: fake.token, domains: [...DOMAINS] };

    const bridge = await startPlugin(plugin, { config });
    onTestEnd(t, async () => void (await bridge.stop()));

    await until(() => bridge.degraded, { withinMs: 12_000 });
    assert.match(bridge.degraded ?? "", /does not finish the sign-in/);
  },
);

const GARBAGE: readonly string[] = [
  "null",
  "[null, 7, [], {}]",
  '{"type":"event","id":99,"event":{}}',
  '{"type":"event","id":3,"event":null}',
  '{"type":"event","id":3,"event":{"a":[1],"c":"x","r":{"no":1}}}',
  '{"type":"event","id":3,"event":{"a":{"light.sofa":{"s":7},"../../x":{"s":"on"},"noDot":{"s":"on"}}}}',
  '{"type":"event","id":3,"event":{"c":{"light.nobody":{"+":{"s":"on"}},"light.sofa":{"+":7}}}}',
  '{"type":"event","id":3,"event":{"a":{"__proto__":{"s":"on"},"constructor.x":{"s":"on"}}}}',
  `{"type":"event","id":3,"event":{"x":"${"y".repeat(10_000_000)}"}}`,
];
const NO_JSON = ["not json", "{", "[".repeat(50_000), Buffer.from([0xff, 0xfe, 0, 1])];

test("invalid messages are dropped, and later ones are handled", async (t) => {
  const { fake, bridge } = await startHome(t);

  for (const [at, text] of GARBAGE.entries()) {
    fake.sendRaw(text);
    fake.change("light.sofa", { brightness: at + 100 });
  }
  fake.change("light.sofa", { brightness: 255 });

  await until(() => bridge.state("reg-sofa")["brightness"] === 100);
  assert.equal(bridge.degraded, undefined);
  assert.equal(fake.signIns, 1);
});

for (const [at, text] of NO_JSON.entries()) {
  test(`invalid JSON ends the connection, and the next connection works (${at + 1})`, async (t) => {
    const { fake, bridge } = await startHome(t);

    fake.sendRaw(text);
    fake.change("light.sofa", { brightness: 255 });
    await until(() => fake.signIns === 2);

    await until(() => bridge.state("reg-sofa")["brightness"] === 100);
    assert.equal(bridge.degraded, undefined);
  });
}

test("a message that is too long ends the connection, and the next connection works", async (t) => {
  const { fake, bridge } = await startHome(t);

  fake.sendRaw(`"${"y".repeat(17 * 2 ** 20)}"`);
  await until(() => fake.signIns === 2);
  fake.change("light.sofa", { brightness: 255 });

  await until(() => bridge.state("reg-sofa")["brightness"] === 100);
});

test("invalid attributes affect only their own fields", async (t) => {
  const { fake, bridge } = await startHome(t);

  fake.set("light.odd", "on", {
    friendly_name: "x".repeat(5_000),
    supported_color_modes: ["hs", "color_temp", 7, null],
    brightness: 99_999,
    hs_color: [999, "red"],
    min_color_temp_kelvin: "NaN",
    max_color_temp_kelvin: -1,
    color_temp_kelvin: 1e300,
    effect_list: [{}, "a", "a", "b".repeat(5_000)],
    effect: "gone",
  });
  fake.set("climate.odd", "heat", {
    min_temp: 30,
    max_temp: 5,
    temperature: "warm",
    hvac_modes: "heat",
    supported_features: 2 ** 40 + 1,
  });
  fake.set("number.odd", "1e999", { min: 5, max: 1, step: -1, unit_of_measurement: { a: 1 } });
  fake.set("sensor.odd", "x".repeat(100_000), { device_class: ["temperature"] });
  await until(() => bridge.devices.has("sensor.odd"));

  const odd = bridge.devices.get("light.odd");
  assert.equal(odd?.name.length, 200);
  assert.deepEqual(odd?.state, {
    on: true,
    brightness: null,
    colorTemperature: 6_535,
    color: null,
    effect: null,
  });
  assert.equal(bridge.state("climate.odd")["targetTemperature"], null);
  assert.deepEqual(bridge.state("number.odd"), { value: null });
  assert.equal(bridge.state("sensor.odd")["value"], "x".repeat(1_000));
  assert.equal(bridge.state("reg-sofa")["brightness"], 62);
});

test("an entity that appears and disappears repeatedly is one device in the end", async (t) => {
  const { fake, bridge } = await startHome(t);

  for (let round = 0; round < 5_000; round++) {
    fake.set("switch.flap", "on");
    fake.remove("switch.flap");
  }
  fake.set("switch.flap", "off");

  await until(() => bridge.devices.has("switch.flap"));
  assert.equal(bridge.state("switch.flap")["on"], false);
  assert.ok(bridge.devices.has("reg-sofa"));
});

test("entities beyond the limit are counted", async (t) => {
  const { fake, bridge } = await startHome(t);
  const many = Object.fromEntries(
    Array.from({ length: 5_100 }, (_, at) => [`switch.many_${at}`, { s: "on", a: {} }]),
  );
  for (const id of Object.keys(many)) fake.entities.set(id, { state: "on", attributes: {} });

  fake.drop();

  await until(() => bridge.devices.size === 5_000, { withinMs: 20_000 });
  await until(() => /\d+ of its entities exceed the limit/.test(bridge.degraded ?? ""));
});
