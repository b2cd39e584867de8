import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { until } from "../../../helpers/until.ts";
import { blind, fanWithLight } from "../../devices/open-devices.ts";
import { json, serveApp } from "../serve-app.ts";

async function serveFan(t: TestContext) {
  const app = await serveApp(t);
  await app.devices.publish("demo", [fanWithLight(), blind()]);
  const command = async (id: string, body: unknown) => {
    const path = `/smart-home/devices/${id}/command`;
    const init = { ...json("POST", body), ...(typeof body === "string" ? { body } : {}) };
    const response = await app.api("control", path, init);
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  };
  return { ...app, command };
}

test("a device is served with its parts and extras, in the list and alone", async (t) => {
  const { api } = await serveFan(t);

  const answer = await (await api("read", "/smart-home/devices/demo:fan:1")).json();
  const { changedBy, ...one } = answer as Record<string, unknown>;
  const { devices } = (await (await api("read", "/smart-home/devices?kind=fan")).json()) as {
    devices: unknown[];
  };

  const { parts, extra } = fanWithLight();
  const { parts: shown, extra: shownExtra } = one;
  assert.equal(changedBy, null);
  assert.deepEqual(shown, [{ ...parts?.[0], pending: {} }]);
  assert.deepEqual(shownExtra, { ...extra, pending: {} });
  assert.deepEqual(devices, [one]);
});

test("a command of parts and extras is answered as it was sent", async (t) => {
  const { command } = await serveFan(t);
  const body = { on: true, parts: { light: { on: true } }, extra: { childLock: true } };

  const answer = await command("demo:fan:1", body);

  assert.deepEqual(
    [answer.status, answer.body["status"], answer.body["applied"]],
    [200, "applied", body],
  );
});

test("a changed part is announced with the whole device", async (t) => {
  const { bus, devices } = await serveFan(t);
  const heard: unknown[] = [];
  bus.on(({ topic, data }) => topic === "device.state" && heard.push(data.device));

  await devices.update("demo", [{ nativeId: "fan", parts: { light: { on: true } } }]);

  const [device] = await until(() => heard.length > 0 && heard);
  assert.deepEqual(device, devices.get("demo:fan:1"));
});

for (const [what, id, body, pointers] of [
  ["an unknown part", "demo:fan:1", { parts: { lamp: { on: true } } }, ["/parts/lamp"]],
  ["a wrong value of a part", "demo:fan:1", { parts: { light: { on: 1 } } }, ["/parts/light/on"]],
  [
    "several faults",
    "demo:fan:1",
    { on: 2, parts: { light: { power: 1 } }, extra: { x: 1 } },
    ["/on", "/parts/light/power", "/extra/x"],
  ],
  ["a list of parts", "demo:fan:1", { parts: [] }, ["/parts"]],
  [
    "null as a value of a part",
    "demo:fan:1",
    { parts: { light: { on: null } } },
    ["/parts/light/on"],
  ],
  [
    "nested too deep",
    "demo:fan:1",
    { parts: { light: { on: { on: true } } } },
    ["/parts/light/on"],
  ],
  [
    "extras in a part",
    "demo:fan:1",
    { parts: { light: { extra: { on: true } } } },
    ["/parts/light/extra"],
  ],
  ["nothing", "demo:fan:1", {}, [""]],
  ["empty parts", "demo:fan:1", { parts: { light: {} } }, [""]],
  ["stop: false", "demo:cover:1", { stop: false }, ["/stop"]],
  [
    "a part of a device without parts",
    "demo:cover:1",
    { parts: { l1: { on: true } } },
    ["/parts/l1"],
  ],
] as const) {
  test(`a command with ${what} is 422 with its place`, async (t) => {
    const { command, commands } = await serveFan(t);

    const answer = await command(id, body);

    const errors = answer.body["errors"] as { pointer: string; detail: string }[];
    assert.equal(answer.status, 422, JSON.stringify(answer.body));
    assert.deepEqual([...new Set(errors.map(({ pointer }) => pointer))], pointers);
    assert.deepEqual(commands, []);
  });
}

test("an unknown part is refused with the parts to choose from", async (t) => {
  const { command } = await serveFan(t);

  const { body } = await command("demo:fan:1", { parts: { lamp: { on: true } } });

  assert.deepEqual(body["errors"], [
    { pointer: "/parts/lamp", detail: "is not a part of the device; its parts are light" },
  ]);
});

test("a command with the name __proto__ is refused", async (t) => {
  const { command } = await serveFan(t);

  for (const body of ['{"parts":{"__proto__":{"on":true}}}', '{"__proto__":true}']) {
    const answer = await command("demo:fan:1", body);
    assert.deepEqual([answer.status, answer.body["code"]], [400, "bad_request"]);
  }
});
