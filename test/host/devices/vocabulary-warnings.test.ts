import assert from "node:assert/strict";
import { test } from "node:test";
import type { Capabilities } from "@mantel/plugin-sdk/device";
import { createBridge, fanWithLight, lamp, openDevices } from "./open-devices.ts";

const FLAG = { type: "boolean" } as const;
const flags = (...names: readonly string[]): Capabilities =>
  Object.fromEntries(names.map((name) => [name, FLAG]));

test("a name outside the vocabulary is logged once for each module, kind and name", async (t) => {
  const { devices, lines } = await openDevices(t, [
    createBridge("b", "demo"),
    createBridge("c", "other"),
  ]);
  const turbo = { capabilities: flags("on", "turbo"), state: {} };
  const [light] = fanWithLight().parts ?? [];
  assert.ok(light);

  await devices.publish("b", [lamp("a", turbo), lamp("b", turbo)]);
  await devices.publish("b", [lamp("a", { ...turbo, parts: [{ ...light, ...turbo }] })]);
  await devices.publish("b", [fanWithLight({ ...turbo, parts: [] })]);
  await devices.publish("c", [lamp("a", turbo), fanWithLight()]);

  assert.deepEqual(
    lines.map(({ level, fields }) => [level, fields["module"], fields["kind"], fields["name"]]),
    [
      ["warn", "b", "light", "turbo"],
      ["warn", "b", "fan", "turbo"],
      ["warn", "c", "light", "turbo"],
    ],
  );
  assert.deepEqual(lines[0], {
    level: "warn",
    sentence: "capability outside the vocabulary",
    fields: {
      module: "b",
      kind: "light",
      name: "turbo",
      detail: 'is not a canonical name; put it under "extra"',
    },
  });
  assert.equal(devices.get("other:light:1").capabilities["turbo"]?.type, "boolean");
});

test("a module that invents names is logged a hundred times at most", async (t) => {
  const { devices, lines } = await openDevices(t, [createBridge("b", "demo")]);
  const names = Array.from({ length: 90 }, (_, at) => `invented${at}`);

  await devices.publish("b", [
    lamp("a", { capabilities: flags(...names), state: {} }),
    lamp("b", { kind: "switch", capabilities: flags(...names), state: {} }),
  ]);

  assert.equal(lines.length, 100);
});

test("a device without a required capability is published, with a warning that names it", async (t) => {
  const { devices, lines } = await openDevices(t, [createBridge("b", "demo")]);
  const dimmer = {
    capabilities: { brightness: { type: "number", unit: "%" } },
    state: {},
  } as const;
  const [light] = fanWithLight().parts ?? [];
  assert.ok(light);
  const fan = fanWithLight({ capabilities: {}, state: {}, parts: [{ ...light, ...dimmer }] });

  await devices.publish("b", [lamp("a", dimmer), fan]);
  await devices.publish("b", [lamp("a", dimmer), fan]);

  assert.deepEqual(
    lines.map(({ sentence, fields }) => [
      sentence,
      fields["kind"],
      fields["name"],
      fields["device"],
    ]),
    [
      ["required capability missing", "light", "on", "a"],
      ["required capability missing", "light", "on", "fan/light"],
    ],
  );
  assert.ok(devices.get("demo:light:1"));
});
