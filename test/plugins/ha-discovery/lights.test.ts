import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { fromRgb, fromXy, toRgb, toXy } from "../../../plugins/ha-discovery/components/color.ts";
import { checkProperty } from "../../fuzz/settings.ts";
import { component } from "./component.ts";

test("a light of the default schema has one topic per function", () => {
  const light = component("light", {
    stat_t: "l/state",
    cmd_t: "l/set",
    bri_stat_t: "l/bri",
    bri_cmd_t: "l/bri/set",
    bri_scl: 100,
    clr_temp_stat_t: "l/ct",
    clr_temp_cmd_t: "l/ct/set",
    rgb_stat_t: "l/rgb",
    rgb_cmd_t: "l/rgb/set",
    fx_stat_t: "l/fx",
    fx_cmd_t: "l/fx/set",
    fx_list: ["none", "rainbow"],
  });

  light.tell("l/state", "ON");
  light.tell("l/bri", "40");
  light.tell("l/ct", "250");
  light.tell("l/rgb", "255,0,0");
  assert.deepEqual(light.tell("l/fx", "rainbow"), {
    on: true,
    brightness: 40,
    colorTemperature: 4000,
    color: { hue: 0, saturation: 100 },
    effect: "rainbow",
  });
  assert.deepEqual(light.ask({ on: true, brightness: 62, colorTemperature: 5000 }), [
    "l/ct/set 200",
    "l/bri/set 62",
    "l/set ON",
  ]);
  assert.deepEqual(light.ask({ color: { hue: 120, saturation: 100 } }), ["l/rgb/set 0,255,0"]);
  assert.deepEqual(light.ask({ on: false }), ["l/set OFF"]);
  assert.deepEqual([...(light.known.handler.unreported ?? [])], []);
});

test("a light is turned on before its style or by it, as configured", () => {
  const config = { cmd_t: "l/set", bri_cmd_t: "l/bri" };
  const first = component("light", { ...config, on_cmd_type: "first" });
  const brightness = component("light", { ...config, on_cmd_type: "brightness" });

  assert.deepEqual(first.ask({ on: true, brightness: 100 }), ["l/set ON", "l/bri 255"]);
  assert.deepEqual(brightness.ask({ on: true, brightness: 100 }), ["l/bri 255"]);
  assert.deepEqual(brightness.ask({ on: true }), ["l/set ON"]);
});

test("colours in hs, xy and rgbww are read and sent in the light's own format", () => {
  const hs = component("light", { cmd_t: "s", hs_cmd_t: "hs", hs_stat_t: "hs/s" });
  const xy = component("light", { cmd_t: "s", xy_cmd_t: "xy", xy_stat_t: "xy/s" });
  const white = component("light", {
    cmd_t: "s",
    rgbww_cmd_t: "w",
    rgbww_cmd_tpl: "{{ red }}/{{ green }}/{{ blue }}/{{ cold_white }}/{{ warm_white }}",
    clrm_stat_t: "mode",
    rgbww_stat_t: "w/s",
  });

  assert.deepEqual(hs.tell("hs/s", "200.5,50")["color"], { hue: 200.5, saturation: 50 });
  assert.deepEqual(hs.ask({ color: { hue: 10, saturation: 20 } }), ["hs 10,20"]);
  assert.deepEqual(xy.tell("xy/s", "0.64,0.33")["color"], { hue: 0, saturation: 100 });
  assert.deepEqual(xy.ask({ color: { hue: 0, saturation: 100 } }), ["xy 0.64,0.33"]);
  assert.deepEqual(white.tell("w/s", "0,0,255,0,0")["color"], { hue: 240, saturation: 100 });
  assert.deepEqual(white.ask({ color: { hue: 240, saturation: 100 } }), ["w 0/0/255/0/0"]);
  assert.equal(white.tell("mode", "color_temp")["color"], null);
});

const JSON_LIGHT = {
  schema: "json",
  stat_t: "j",
  cmd_t: "j/set",
  brightness: true,
  bri_scl: 254,
  sup_clrm: ["xy", "color_temp"],
  min_mireds: 153,
  max_mireds: 500,
  effect: true,
  fx_list: ["candle"],
};

test("a light of the JSON schema reports and receives all values in one message", () => {
  const light = component("light", JSON_LIGHT);

  const state = light.tell("j", {
    state: "ON",
    brightness: 127,
    color_mode: "xy",
    color: { x: 0.64, y: 0.33 },
    effect: "candle",
  });
  assert.deepEqual(state, {
    on: true,
    brightness: 50,
    colorTemperature: null,
    color: { hue: 0, saturation: 100 },
    effect: "candle",
  });
  assert.deepEqual(light.tell("j", { state: "OFF", color_mode: "color_temp", color_temp: 400 }), {
    ...state,
    on: false,
    color: null,
    colorTemperature: 2500,
  });
  assert.deepEqual(light.ask({ on: true, brightness: 62 }), [
    'j/set {"state":"ON","brightness":157}',
  ]);
  assert.deepEqual(light.ask({ on: false }), ['j/set {"state":"OFF"}']);
  assert.deepEqual(light.ask({ colorTemperature: 2500 }), [
    'j/set {"state":"ON","color_temp":400}',
  ]);
});

test("a light of the JSON schema can use kelvin, hs and rgb, or report no state", () => {
  const kelvin = component("light", {
    ...JSON_LIGHT,
    color_temp_kelvin: true,
    sup_clrm: ["color_temp", "hs"],
  });
  const rgb = component("light", { schema: "json", cmd_t: "r", rgb: true, brightness: true });

  assert.deepEqual(kelvin.ask({ colorTemperature: 3000 }), [
    'j/set {"state":"ON","color_temp":3000}',
  ]);
  assert.deepEqual(kelvin.ask({ color: { hue: 5, saturation: 6 } }), [
    'j/set {"state":"ON","color":{"h":5,"s":6}}',
  ]);
  assert.deepEqual(rgb.ask({ color: { hue: 0, saturation: 100 } }), [
    'r {"state":"ON","color":{"r":255,"g":0,"b":0}}',
  ]);
  assert.deepEqual([...(rgb.known.handler.unreported ?? [])], ["on", "brightness", "color"]);
});

test("a light of the template schema uses its templates for states and commands", () => {
  const light = component("light", {
    schema: "template",
    stat_t: "t",
    cmd_t: "t/set",
    cmd_on_tpl:
      "on{% if brightness is defined %},{{ brightness }}{% endif %}{% if red is defined %},{{ red }}-{{ green }}-{{ blue }}{% endif %}",
    cmd_off_tpl: "off",
    stat_tpl: "{{ value.split(',')[0] }}",
    bri_tpl: "{{ value.split(',')[1] }}",
    r_tpl: "{{ value.split(',')[2].split('-')[0] }}",
    g_tpl: "{{ value.split(',')[2].split('-')[1] }}",
    b_tpl: "{{ value.split(',')[2].split('-')[2] }}",
  });

  assert.deepEqual(light.tell("t", "on,128,0-0-255"), {
    on: true,
    brightness: 50,
    color: { hue: 240, saturation: 100 },
  });
  assert.deepEqual(light.ask({ on: true, brightness: 50 }), ["t/set on,128"]);
  assert.deepEqual(light.ask({ color: { hue: 0, saturation: 0 } }), ["t/set on,255-255-255"]);
  assert.deepEqual(light.ask({ on: false }), ["t/set off"]);
});

test("a colour survives the conversion through rgb and xy almost unchanged", async (t) => {
  const colors = fc.record({
    hue: fc.integer({ min: 0, max: 359 }),
    saturation: fc.integer({ min: 20, max: 100 }),
  });
  await checkProperty(
    t,
    fc.property(colors, (color) => {
      for (const back of [fromRgb(toRgb(color)), fromXy(...toXy(color))]) {
        assert.ok(back);
        const turn = Math.abs(back.hue - color.hue) % 360;
        assert.ok(Math.min(turn, 360 - turn) < 3, JSON.stringify([color, back]));
        assert.ok(Math.abs(back.saturation - color.saturation) < 3, JSON.stringify([color, back]));
      }
    }),
    5_000,
  );
});
