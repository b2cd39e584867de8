import assert from "node:assert/strict";
import { test } from "node:test";
import { parseScenes } from "@mantel/plugin-sdk/parse-scenes";
import * as fc from "fast-check";
import { parseDescriptions } from "../../../host/devices/parse-devices.ts";
import { follows, lightBody, lightCapabilities } from "../../../plugins/hue/convert-light.ts";
import { describe } from "../../../plugins/hue/convert.ts";
import { type Resource, Resources } from "../../../plugins/hue/resources.ts";
import { colorLight, device, home, onOffLight } from "../../fakes/hue-home.ts";

const lamp: Resource = { id: "lamp", ...colorLight() };
/** As the host takes them: it throws for what is not valid. */
function describeAll(all: readonly unknown[]) {
  const resources = new Resources();
  resources.replace(all);
  const { devices, scenes } = describe("001788fffe123456", resources);
  const unique = new Map(devices.map((each) => [each.nativeId, each]));
  return {
    devices: parseDescriptions("hue", [...unique.values()]),
    scenes: parseScenes("hue", scenes),
  };
}

test("commands for every percent and kelvin of a light's range are confirmed by the light's own steps", () => {
  for (let brightness = 1; brightness <= 100; brightness++) {
    const body = lightBody(lamp, { brightness });
    const stepped = Math.round(brightness * 2.54) / 2.54;
    assert.ok(follows({ ...lamp, dimming: { brightness: stepped } }, body));
    assert.ok(!follows({ ...lamp, dimming: { brightness: stepped + 3 } }, body));
  }
  for (let kelvin = 2_000; kelvin <= 6_500; kelvin += 50) {
    const { color_temperature } = lightBody(lamp, { colorTemperature: kelvin });
    assert.ok((color_temperature?.mirek ?? 0) >= 153 && (color_temperature?.mirek ?? 0) <= 500);
  }
});

test("a brightness above 0 never becomes level 0, and a lit lamp is never shown as 0", () => {
  assert.deepEqual(lightBody(lamp, { on: true, brightness: 0.3 }).dimming, { brightness: 0.3 });
  const dim = { ...lamp, dimming: { brightness: 0.2, min_dim_level: 0.2 } };

  assert.ok(follows(dim, { dimming: { brightness: 0.05 } }));
  const [shown] = describeAll(
    device({ id: "l", name: "L", mac: "00:17:88:01:02:03:04:01", services: [dim] }),
  ).devices;
  assert.equal(shown?.state["brightness"], 1);
});

test("a light at its own least brightness has followed a request for less", () => {
  const dim = { ...lamp, dimming: { brightness: 10, min_dim_level: 10 } };

  assert.ok(follows(dim, { dimming: { brightness: 2 } }));
  assert.ok(!follows({ ...lamp, dimming: { brightness: 10 } }, { dimming: { brightness: 2 } }));
});

test("lights of every kind have the right capabilities", () => {
  const capabilities = (light: object) =>
    Object.keys(lightCapabilities([{ id: "l", type: "light", ...light }]));

  assert.deepEqual(capabilities(onOffLight("plug")), ["on"]);
  assert.deepEqual(capabilities({ on: {}, dimming: {} }), ["on", "brightness"]);
  assert.deepEqual(capabilities({ on: {}, dimming: {}, color_temperature: {} }), [
    "on",
    "brightness",
    "colorTemperature",
  ]);
  assert.deepEqual(capabilities({ on: {}, dimming: {}, color: {} }), ["on", "brightness", "color"]);
});

test("the older words of motion, contact and buttons are understood", () => {
  const { devices } = describeAll(
    device({
      id: "old",
      name: "Old",
      mac: "00:17:88:01:02:03:04:01",
      services: [
        { type: "motion", enabled: true, motion: { motion: true, motion_valid: true } },
        { type: "temperature", enabled: false, temperature: { temperature: 20 } },
        { type: "button", metadata: { control_id: 3 }, button: { last_event: "long_press" } },
      ],
    }),
  );

  assert.deepEqual(
    devices.map(({ state }) => state),
    [{ lastAction: "button_3_long_press" }, { motion: true, temperature: null }],
  );
});

test("recursive rooms, lights without a room and very long names are accepted", () => {
  const { devices } = describeAll([
    ...home().map((each) => ({ ...each, metadata: { name: "N".repeat(5_000) } })),
    { id: "a", type: "room", children: [{ rid: "a", rtype: "room" }], services: [] },
    { id: "b", type: "bridge_home", children: [{ rid: "b", rtype: "room" }], services: [7, null] },
    { id: "c", type: "scene", group: 4, actions: [{ target: { rid: "nobody" } }, null, 3] },
  ]);

  assert.equal(devices.length, 8);
  assert.ok(devices.every(({ name }) => name.length === 200));
});

test("any data from a bridge gives valid devices, and the rest of the home is kept", () => {
  const odd = fc.oneof(fc.anything(), fc.jsonValue());
  const keys = home().flatMap((each) => Object.keys(each));
  const damage = fc.array(fc.tuple(fc.nat(), fc.constantFrom(...keys), odd), { maxLength: 20 });
  fc.assert(
    fc.property(damage, fc.array(odd, { maxLength: 5 }), (changes, more) => {
      const damaged: Record<string, unknown>[] = home();
      for (const [at, key, value] of changes) {
        const one = damaged[at % damaged.length];
        if (one && key !== "id" && key !== "type") one[key] = value;
      }
      const sound = device({
        id: "sound",
        name: "Sound",
        mac: "00:17:88:01:02:03:04:77",
        services: [colorLight()],
      });

      const { devices } = describeAll([...damaged, ...more, ...sound]);

      assert.ok(devices.some(({ name }) => name === "Sound"));
    }),
    { numRuns: 300 },
  );
});
