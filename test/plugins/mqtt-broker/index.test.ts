import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, createServer } from "node:net";
import { after, test } from "node:test";
import { connect as connectClient, connectAsync } from "mqtt";
import { collect } from "../../helpers/mosquitto.ts";
import { watchResources } from "../../helpers/resources.ts";
import { until } from "../../helpers/until.ts";
import { startBroker } from "./start-broker.ts";

after(watchResources());

test("a message reaches a subscriber with its QoS", async (t) => {
  const { url, login } = await startBroker(t);
  const messages = await collect(t, url, login);
  const client = await connectAsync(url, login);
  t.after(() => client.endAsync());

  await client.publishAsync("home/desk", "on", { qos: 2 });

  await until(() => messages.length > 0);
  assert.deepEqual(messages, [{ topic: "home/desk", payload: "on", qos: 2, retain: false }]);
});

test("the address is on loopback, at the port of the config", async (t) => {
  const { url, port } = await startBroker(t);

  assert.equal(url, `mqtt://127.0.0.1:${port}`);
});

test("a free port is used if the wanted one is taken, with a log record", async (t) => {
  const other = createServer().listen(0, "127.0.0.1");
  t.after(() => void other.close());
  await once(other, "listening");
  const taken = (other.address() as { port: number }).port;

  const { url, login, logs } = await startBroker(t, { port: taken });

  assert.notEqual(url, `mqtt://127.0.0.1:${taken}`);
  const client = await connectAsync(url, login);
  await client.endAsync();
  assert.deepEqual(logs.at(-1), {
    level: "warn",
    sentence: "the port of the broker is in use; it listens on another one",
    fields: { url, taken },
  });
});

test("the port in use stays the same after a handover", async (t) => {
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

test("retained messages survive a reload, and removed ones stay removed", async (t) => {
  const first = await startBroker(t);
  const client = await connectAsync(first.url, { ...first.login, reconnectPeriod: 0 });
  const retain = { retain: true, qos: 1 } as const;
  await client.publishAsync("zigbee2mqtt/bridge/state", "online", retain);
  await client.publishAsync("home/old", "1", retain);
  await client.publishAsync("home/old", "", retain);
  await client.publishAsync("home/passing", "1", { qos: 1 });
  await client.endAsync();
  const handedOver = JSON.parse(JSON.stringify(await first.stop()));

  const second = await startBroker(t, { port: first.port, handedOver });

  const messages = await collect(t, second.url, second.login);
  await until(() => messages.length > 0);
  assert.deepEqual(messages, [
    { topic: "zigbee2mqtt/bridge/state", payload: "online", qos: 1, retain: true },
  ]);
});

test("retained messages beyond 4 MiB are dropped and counted in the log", async (t) => {
  const { url, login, stop, logs } = await startBroker(t);
  const client = await connectAsync(url, login);
  const large = Buffer.alloc(900 * 2 ** 10);
  for (const topic of ["one", "two", "three", "four", "five"]) {
    await client.publishAsync(topic, large, { retain: true, qos: 1 });
  }
  await client.endAsync();

  const state = (await stop()) as { retained: { topic: string }[] };

  assert.deepEqual(
    state.retained.map(({ topic }) => topic),
    ["one", "two", "three", "four"],
  );
  assert.deepEqual(logs.at(-1)?.fields, { lost: 1 });
});

test("stopping does not wait for a silent connection", async (t) => {
  const { port, stop } = await startBroker(t);
  const silent = connect(port, "127.0.0.1");
  await once(silent, "connect");
  const closed = once(silent, "close");

  await stop();

  await closed;
});

test("bytes that are not MQTT close only the connection that sent them", async (t) => {
  const { url, login, port } = await startBroker(t);
  const client = await connectAsync(url, { ...login, reconnectPeriod: 0 });
  t.after(() => client.endAsync());
  const stranger = connect(port, "127.0.0.1");
  stranger.on("error", () => undefined); // a reset is as good an end as any

  stranger.write("POST / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n");

  await once(stranger, "close");
  await client.publishAsync("home/desk", "on", { qos: 1 });
});

test("a persistent session survives a reload with its queued messages", async (t) => {
  const first = await startBroker(t);
  const lasting = { ...first.login, clientId: "heating", clean: false } as const;
  const before = await connectAsync(first.url, lasting);
  await before.subscribeAsync("home/#", { qos: 1 });
  await before.endAsync();
  const client = await connectAsync(first.url, first.login);
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
