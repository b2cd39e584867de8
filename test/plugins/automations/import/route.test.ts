import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { startPlugin } from "@mantel/plugin-sdk/testing";
import type { ImportAnswer } from "../../../../plugins/automations/import/import-automations.ts";
import { imported, importOrigin } from "../../../../plugins/automations/import/route.ts";
import plugin from "../../../../plugins/automations/index.ts";
import * as routes from "../../../../plugins/automations/routes.ts";

const LAMP = {
  id: "demo:light:1",
  name: "Porch",
  capabilities: { on: { type: "boolean" } },
  state: { on: false },
} as const;
const YAML = `
- alias: Evening
  triggers: [{trigger: sun, event: sunset}]
  actions: [{action: light.turn_on, target: {entity_id: light.porch}}]
- alias: Bed
  triggers: [{trigger: time, at: "22:00"}]
  actions: [{action: light.turn_off, target: {entity_id: light.gate}}, {delay: 2}]
`;

async function open(t: TestContext) {
  const running = await startPlugin(plugin, { home: { devices: [LAMP] } });
  t.after(() => running.stop().catch(() => undefined));
  const send = async (body: object) => {
    const { json } = await running.request(imported, { body: { yaml: YAML, ...body } });
    return json as ImportAnswer;
  };
  const names = async () => {
    const { json } = await running.request(routes.list);
    return (json as { automations: { name: string; enabled: boolean }[] }).automations.map(
      ({ name, enabled }) => `${name} ${enabled ? "on" : "off"}`,
    );
  };
  return { send, names };
}

test("a preview lists what can be converted and which devices are missing, and stores nothing", async (t) => {
  const { send, names } = await open(t);

  const { automations, entities } = await send({});

  assert.deepEqual(
    automations.map(({ name, result, reasons }) => [name, result, reasons]),
    [
      ["Evening", "whole", []],
      ["Bed", "partial", [{ place: "action 1", detail: "there is no device for light.gate" }]],
    ],
  );
  assert.deepEqual(entities, [
    { entity: "light.gate", kind: "device", device: null, candidates: [] },
    { entity: "light.porch", kind: "device", device: LAMP.id, candidates: [] },
  ]);
  assert.deepEqual(await names(), []);
});

test("the import tells which system it converts the files of", async (t) => {
  const running = await startPlugin(plugin, { home: { devices: [LAMP] } });
  t.after(() => running.stop().catch(() => undefined));

  const { json } = await running.request(importOrigin);

  assert.deepEqual(json, { name: "Home Assistant", files: ["automations.yaml", "scripts.yaml"] });
});

test("complete automations are stored, others only if the request asks for it, and none twice", async (t) => {
  const { send, names } = await open(t);

  const first = await send({ store: true });
  const afterFirst = await names();
  const second = await send({ store: true, partial: true });

  assert.deepEqual(
    first.automations.map(({ stored }) => stored),
    [["evening"], []],
  );
  assert.deepEqual(afterFirst, ["Evening on"]);
  assert.deepEqual(
    second.automations.map(({ exists, stored }) => [exists, stored]),
    [
      [true, []],
      [false, ["bed"]],
    ],
  );
  assert.deepEqual(await names(), ["Bed off", "Evening on"]);
});

test("an automation is complete once the user has chosen the device", async (t) => {
  const { send, names } = await open(t);

  await send({ store: true, devices: { "light.gate": LAMP.id } });

  assert.deepEqual(await names(), ["Bed on", "Evening on"]);
});

test("a file that cannot be read is refused", async (t) => {
  const { send } = await open(t);

  await assert.rejects(send({ yaml: "[" }), { code: "invalid" });
});
