import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { serveApp } from "../serve-app.ts";

async function serveSensor(t: TestContext) {
  const app = await serveApp(t);
  await app.devices.publish("demo", [
    {
      nativeId: "climate",
      kind: "sensor",
      name: "Climate",
      capabilities: {
        temperature: { type: "number", unit: "°C", readOnly: true },
        target: { type: "number", unit: "°C" },
      },
      state: { temperature: 21.5, target: 20 },
    },
  ]);
  const path = "/smart-home/devices/demo:sensor:1/history";
  return { get: (query: string) => app.api("read", `${path}${query}`), api: app.api };
}

test("a sensor's history is read with its unit and window", async (t) => {
  const { get } = await serveSensor(t);

  const response = await get(
    "?field=temperature&from=2026-01-01T00:00:00Z&to=2126-01-01T00:00:00Z",
  );

  assert.equal(response.status, 200);
  const { readings, ...rest } = (await response.json()) as { readings: { value: number }[] };
  assert.deepEqual(rest, {
    deviceId: "demo:sensor:1",
    field: "temperature",
    unit: "°C",
    window: { from: "2026-01-01T00:00:00.000Z", to: "2126-01-01T00:00:00.000Z" },
  });
  assert.deepEqual(
    readings.map(({ value }) => value),
    [21.5],
  );
});

for (const [query, pointer] of [
  ["?field=target", "/field"],
  ["?field=constructor", "/field"],
  ["?field=temperature&from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z", "/from"],
  ["?field=temperature&from=yesterday", "/from"],
  ["", "/field"],
] as const) {
  test(`a history with "${query}" is refused and says where`, async (t) => {
    const { get } = await serveSensor(t);

    const response = await get(query);

    assert.equal(response.status, 422);
    const { errors } = (await response.json()) as { errors: { pointer: string }[] };
    assert.ok(
      errors.some((fault) => fault.pointer.startsWith(pointer)),
      JSON.stringify(errors),
    );
  });
}

test("the history of an unknown device gives 404", async (t) => {
  const { api } = await serveSensor(t);

  const { status } = await api("read", "/smart-home/devices/demo:sensor:9/history?field=power");

  assert.equal(status, 404);
});
