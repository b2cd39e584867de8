import assert from "node:assert/strict";
import { test } from "node:test";
import { component } from "./component.ts";

const REFUSED: readonly [platform: string, config: object][] = [
  ["light", {}],
  ["light", { cmd_t: "x", schema: "other" }],
  ["light", { cmd_t: "x", schema: "template" }],
  ["light", { cmd_t: "x", bri_scl: "many" }],
  ["sensor", { stat_t: "a/#" }],
  ["sensor", { stat_t: "a/+/b" }],
  ["sensor", { stat_t: "$SYS/broker" }],
  ["sensor", { stat_t: "a\u0000b" }],
  ["sensor", { stat_t: "x".repeat(70_000) }],
  ["sensor", { stat_t: { deep: 1 } }],
  ["sensor", { stat_t: "s", val_tpl: "{{ value | unknown_filter }}" }],
  ["sensor", { stat_t: "s", val_tpl: "{{ states('light.x') }}" }],
  ["sensor", { stat_t: "s", val_tpl: "{% for" }],
  ["button", {}],
  ["button", { cmd_t: "refused/x" }],
  ["select", { cmd_t: "x" }],
  ["select", { cmd_t: "x", ops: Array.from({ length: 1_000 }, (_, i) => `o${i}`) }],
  ["number", { cmd_t: "x", min: 10, max: 0 }],
  ["device_automation", { atype: "trigger", t: "x" }],
  ["camera", {}],
  ["image", { url_t: "x" }],
  ["siren", { stat_t: "x" }],
  ["humidifier", { hum_cmd_t: "x" }],
  ["humidifier", { cmd_t: "x", hum_cmd_t: "x", min_hum: 60, max_hum: 40 }],
  ["water_heater", { temp_cmd_t: "x", min_temp: 70, max_temp: 40 }],
  ["device_tracker", {}],
  ["valve", { cmd_t: "x", pos_open: "far" }],
  ["fan", { cmd_t: "x", spd_rng_min: 5, spd_rng_max: 2 }],
  ["climate", { temp_cmd_t: "x", temp_stat_t: "x", min_temp: 30, max_temp: 5 }],
  ["constructor", { t: "x" }],
];

for (const [platform, config] of REFUSED) {
  test(`${platform} with ${JSON.stringify(config).slice(0, 60)} is refused with a clear message`, () => {
    assert.throws(() => component(platform, config), { name: "DiscoveryError" });
  });
}

test("a template that exceeds its limits is not retried for ever", () => {
  const bomb = "{% for a in range(900) %}{% for b in range(900) %}x{% endfor %}{% endfor %}";
  const sensor = component("sensor", { stat_t: "s", val_tpl: `{{ value }}${bomb}` });

  for (let count = 0; count < 100; count++) sensor.tell("s", String(count));

  assert.equal(sensor.garbage.length, 20);
  assert.match(sensor.garbage[0] ?? "", /^value_template: /);
  assert.equal(sensor.known.state["value"], null);
});

test("a meaningless value is distinguished from an unusable one", () => {
  const sensor = component("sensor", {
    stat_t: "s",
    unit_of_meas: "W",
    val_tpl: "{{ value_json.a.b }}",
  });
  const plain = component("sensor", { stat_t: "s", unit_of_meas: "W" });
  const lamp = component("light", { schema: "json", stat_t: "s", cmd_t: "c", brightness: true });

  sensor.tell("s", "not JSON");
  sensor.tell("s", { b: 1 });
  for (const text of ["NaN", "5 W", "", " "]) plain.tell("s", text);
  lamp.tell("s", "not JSON");
  lamp.tell("s", { state: "ON", brightness: "many" });
  lamp.tell("s", { state: "ON", brightness: 700 });

  assert.deepEqual([sensor.garbage.length, sensor.unusable.length], [1, 1]);
  assert.deepEqual(plain.garbage, ["its value is not a number", "its value is not a number"]);
  assert.deepEqual(lamp.garbage, ["it is not a JSON object", "its brightness is not a number"]);
  assert.deepEqual(lamp.unusable, ["its brightness is not a possible value"]);
  assert.deepEqual(lamp.known.state, { on: true, brightness: null });
});
