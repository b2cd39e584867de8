import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, createServer } from "node:net";
import { after, test, type TestContext } from "node:test";
import { startPlugin } from "@mantel/plugin-sdk/testing";
import { connect as connectClient, connectAsync } from "mqtt";
import plugin from "../../../plugins/mqtt-broker/index.ts";
import { collect, freePort } from "../../helpers/mosquitto.ts";
import { watchResources } from "../../helpers/resources.ts";
import { until } from "../../helpers/until.ts";

after(watchResources());

async function startBroker(t: TestContext, options: { port?: number; handedOver?: unknown } = {}) {
  const { port = await freePort(), handedOver } = options;
  const broker = await startPlugin(plugin, { config: { port }, handedOver });
  const { url } = await broker.call("broker.address", {});
  let state: Promise<unknown> | undefined;
  const stop = () => (state ??= broker.stop());
  t.after(stop);
  return { url, port, logs: broker.logs, stop };
}

test("a message reaches a subscriber with its QoS", async (t) => {
  const { url } = await startBroker(t);
  const messages = await collect(t, url, { protocolVersion: 4 });
  const client = await connectAsync(url, { protocolVersion: 4 });
  t.after(() => client.endAsync());

  await client.publishAsync("home/desk", "on", { qos: 2 });

  await until(() => messages.length > 0);
  assert.deepEqual(messages, [{ topic: "home/desk", payload: "on", qos: 2, retain: false }]);
});

test("the address is on loopback, at the port of the config", async (t) => {
  const { url, port } = await startBroker(t);

  assert.equal(url, `mqtt://127.0.0.1:${port}`);
});

test("a free port serves when the wanted one is taken, and the log says so", async (t) => {
  const other = createServer().listen(0, "127.0.0.1");
  t.after(() => void other.close());
  await once(other, "listening");
  const taken = (other.address() as { port: number }).port;

  const { url, logs } = await startBroker(t, { port: taken });

  assert.notEqual(url, `mqtt://127.0.0.1:${taken}`);
  const client = await connectAsync(url, { protocolVersion: 4 });
  await client.endAsync();
  assert.deepEqual(logs.at(-1), {
    level: "warn",
    sentence: "the wanted port is taken",
    fields: { url, taken },
  });
});

test("the port in use stays the same when a generation hands over", async (t) => {
  const other = createServer().listen(0, "127.0.0.1");
  await once(other, "listening");
  const taken = (other.address() as { port: number }).port;
  const first = await startBroker(t, { port: taken });
  const handedOver = await first.stop();
  other.close();

  const second = await startBroker(t, { port: taken, handedOver });

  assert.equal(second.url, first.url);
});

test("a changed port in the config wins over the port handed over", async (t) => {
  const first = await startBroker(t);
  const handedOver = await first.stop();

  const second = await startBroker(t, { handedOver });

  assert.equal(second.url, `mqtt://127.0.0.1:${second.port}`);
  assert.notEqual(second.url, first.url);
});

test("retained messages outlive a reload, removed ones stay removed", async (t) => {
  const first = await startBroker(t);
  const client = await connectAsync(first.url, { protocolVersion: 4, reconnectPeriod: 0 });
  const retain = { retain: true, qos: 1 } as const;
  await client.publishAsync("zigbee2mqtt/bridge/state", "online", retain);
  await client.publishAsync("home/old", "1", retain);
  await client.publishAsync("home/old", "", retain);
  await client.publishAsync("home/passing", "1", { qos: 1 });
  await client.endAsync();
  const handedOver = JSON.parse(JSON.stringify(await first.stop()));

  const second = await startBroker(t, { port: first.port, handedOver });

  const messages = await collect(t, second.url, { protocolVersion: 4 });
  await until(() => messages.length > 0);
  assert.deepEqual(messages, [
    { topic: "zigbee2mqtt/bridge/state", payload: "online", qos: 1, retain: true },
  ]);
});

test("what exceeds 4 MiB of retained messages is left out and counted in the log", async (t) => {
  const { url, stop, logs } = await startBroker(t);
  const client = await connectAsync(url, { protocolVersion: 4 });
  const large = Buffer.alloc(3 * 2 ** 20);
  await client.publishAsync("home/first", large, { retain: true, qos: 1 });
  await client.publishAsync("home/second", large, { retain: true, qos: 1 });
  await client.endAsync();

  const state = (await stop()) as { retained: { topic: string }[] };

  assert.deepEqual(
    state.retained.map(({ topic }) => topic),
    ["home/first"],
  );
  assert.deepEqual(logs.at(-1)?.fields, { lost: 1 });
});

test("stopping does not wait for a connection that says nothing", async (t) => {
  const { port, stop } = await startBroker(t);
  const silent = connect(port, "127.0.0.1");
  await once(silent, "connect");
  const closed = once(silent, "close");

  await stop();

  await closed;
});

test("bytes that are not MQTT end their own connection and no other", async (t) => {
  const { url, port } = await startBroker(t);
  const client = await connectAsync(url, { protocolVersion: 4, reconnectPeriod: 0 });
  t.after(() => client.endAsync());
  const stranger = connect(port, "127.0.0.1");
  stranger.on("error", () => undefined); // a reset is as good an end as any

  stranger.write("POST / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n");

  await once(stranger, "close");
  await client.publishAsync("home/desk", "on", { qos: 1 });
});

test("a session that outlasts connections outlives a reload, with what waits for its client", async (t) => {
  const first = await startBroker(t);
  const lasting = { protocolVersion: 4, clientId: "heating", clean: false } as const;
  const before = await connectAsync(first.url, lasting);
  await before.subscribeAsync("home/#", { qos: 1 });
  await before.endAsync();
  const client = await connectAsync(first.url, { protocolVersion: 4 });
  await client.publishAsync("home/desk", "on", { qos: 1 });
  await client.endAsync();
  const handedOver = JSON.parse(JSON.stringify(await first.stop()));

  const second = await startBroker(t, { port: first.port, handedOver });
  const messages: string[] = [];
  const back = connectClient(second.url, { ...lasting, reconnectPeriod: 0 });
  back.on("message", (topic, payload) => messages.push(`${topic} ${payload.toString()}`));
  t.after(() => back.endAsync());
  await until(() => messages.length > 0);
  await back.publishAsync("home/lamp", "off", { qos: 1 });

  await until(() => messages.length > 1);
  assert.deepEqual(messages, ["home/desk on", "home/lamp off"]);
});
