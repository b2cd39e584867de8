import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import type { DeviceDescription } from "@mantel/plugin-sdk";
import { json, serveApp } from "../serve-app.ts";

const ON = { type: "boolean" } as const;
const LEVEL = { type: "number", min: 0, max: 100, step: 1, unit: "%" } as const;

const lamp = (nativeId: string, change: Partial<DeviceDescription> = {}): DeviceDescription => ({
  nativeId,
  kind: "light",
  name: nativeId,
  room: "Hall & stairs",
  capabilities: { on: ON },
  state: { on: true },
  ...change,
});

async function serveRoom(t: TestContext) {
  const app = await serveApp(t);
  await app.devices.publish("demo", [
    lamp("first", { capabilities: { on: ON, brightness: LEVEL }, state: { on: true } }),
    lamp("second"),
    lamp("away", { available: false }),
    lamp("attic", { room: "Attic" }),
    lamp("kettle", { kind: "plug" }),
  ]);
  const command = async (room: string, body: unknown, query = "") => {
    const path = `/rooms/${encodeURIComponent(room)}/command${query}`;
    const response = await app.api("control", path, json("POST", body));
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  };
  const named = (results: unknown) =>
    (results as { deviceId: string; status: string }[]).map(({ deviceId, status }) => [
      app.devices.get(deviceId).name,
      status,
    ]);
  return { ...app, command, named };
}

test("a command for a room goes to each reachable device of the kind, with a result for each", async (t) => {
  const { command, commands, named } = await serveRoom(t);

  const { status, body } = await command("Hall & stairs", { on: false }, "?kind=light");

  assert.deepEqual([status, body["status"]], [200, "ok"]);
  assert.deepEqual(named(body["results"]), [
    ["first", "applied"],
    ["second", "applied"],
  ]);
  assert.deepEqual(commands, [{ on: false }, { on: false }]);
});

test("without a kind it goes to every device that takes it, and to no other", async (t) => {
  const { command, named } = await serveRoom(t);

  const all = await command("Hall & stairs", { on: false });
  const dimmed = await command("Hall & stairs", { brightness: 20 });

  assert.deepEqual(
    named(all.body["results"]).map(([name]) => name),
    ["first", "second", "kettle"],
  );
  assert.deepEqual(named(dimmed.body["results"]), [["first", "applied"]]);
});

test("a device that fails makes the answer partial, and the others are commanded", async (t) => {
  const { command, devices, named } = await serveRoom(t);
  await devices.publish("demo", [
    lamp("whole", { capabilities: { brightness: LEVEL }, state: { brightness: 5 } }),
    lamp("half", { capabilities: { brightness: { ...LEVEL, max: 50 } }, state: { brightness: 5 } }),
  ]);

  const { status, body } = await command("Hall & stairs", { brightness: 80 });

  assert.deepEqual([status, body["status"]], [200, "partial"]);
  assert.deepEqual(named(body["results"]), [
    ["whole", "applied"],
    ["half", "failed"],
  ]);
});

test("values that none of the devices may have are refused, and nothing is sent", async (t) => {
  const { command, commands } = await serveRoom(t);

  const refused = [
    await command("Hall & stairs", { brightness: 400 }),
    await command("Hall & stairs", { on: "x" }),
  ];

  assert.deepEqual(
    refused.map(({ status, body }) => [
      status,
      (body["errors"] as { pointer: string }[]).map(({ pointer }) => pointer),
    ]),
    [
      [422, ["/brightness"]],
      [422, ["/on"]],
    ],
  );
  assert.deepEqual(commands, []);
});

test("the answer names the cause", async (t) => {
  const { command } = await serveRoom(t);

  const { body } = await command("Attic", { on: false });

  assert.equal((body["cause"] as { kind: string }).kind, "token");
});

test("hidden devices are left alone", async (t) => {
  const { command, devices, named } = await serveRoom(t);
  const [first] = devices.list({ room: "Attic" });
  await devices.adjust(first?.id ?? "", { room: "Hall & stairs", hidden: true });

  const { body } = await command("Hall & stairs", { on: false }, "?kind=light");

  assert.deepEqual(
    named(body["results"]).map(([name]) => name),
    ["first", "second"],
  );
});

test("a room without such devices is unknown, and a command that none of them takes is refused", async (t) => {
  const { command, commands } = await serveRoom(t);

  const codes = [
    await command("Cellar", { on: true }),
    await command("Attic", { on: true }, "?kind=plug"),
    await command("Attic", { position: 5 }),
    await command("Attic", {}),
    await command("Attic", { parts: { light: { on: true } } }),
    await command("Attic", { on: true }, "?kind=spaceship"),
  ].map(({ body }) => body["code"]);

  assert.deepEqual(codes, [
    "room_unknown",
    "room_unknown",
    ...["invalid", "invalid", "invalid", "invalid"],
  ]);
  assert.deepEqual(commands, []);
});

test("a token that only reads may not command a room", async (t) => {
  const { api } = await serveRoom(t);

  const refused = await api("read", "/rooms/Attic/command", json("POST", { on: true }));

  assert.equal(refused.status, 403);
});

test("each of many devices is sent a command of its own, and has a result of its own", async (t) => {
  const { api, devices, commands, named } = await serveRoom(t);
  const ids = new Map(devices.list().map(({ name, id }) => [name, id]));
  const targets = {
    [ids.get("first") ?? ""]: { on: true, brightness: 30 },
    [ids.get("attic") ?? ""]: { on: false },
    "demo:light:99": { on: false },
  };

  const response = await api("control", "/smart-home/commands", json("POST", { targets }));
  const body = (await response.json()) as { status: string; results: { deviceId: string }[] };

  assert.deepEqual([response.status, body.status], [200, "partial"]);
  assert.deepEqual(named(body.results.slice(0, 2)), [
    ["first", "applied"],
    ["attic", "applied"],
  ]);
  assert.deepEqual(body.results[2], {
    deviceId: "demo:light:99",
    status: "failed",
    error: { code: "device_unknown", detail: "no device has the id demo:light:99" },
  });
  assert.deepEqual(commands, [{ on: true, brightness: 30 }, { on: false }]);
});

test("commands without devices or fields are refused, and nothing is sent", async (t) => {
  const { api, commands } = await serveRoom(t);

  for (const body of [{}, { targets: {} }, { targets: { "demo:light:1": {} } }]) {
    const { status } = await api("control", "/smart-home/commands", json("POST", body));
    assert.notEqual(status, 200);
  }
  const { status } = await api("read", "/smart-home/commands", json("POST", { targets: {} }));
  assert.equal(status, 403);
  assert.deepEqual(commands, []);
});
