import assert from "node:assert/strict";
import { after, test } from "node:test";
import { MantelError } from "@mantel/plugin-sdk";
import { collect, startMosquitto } from "../../helpers/mosquitto.ts";
import { watchResources } from "../../helpers/resources.ts";
import { until } from "../../helpers/until.ts";
import { listen, real, startMqtt, stopTimers } from "./start-mqtt.ts";

const CONNACK = Buffer.from([0x20, 2, 0, 0]);
const PINGREQ = 0xc0;
const PINGRESP = Buffer.from([0xd0, 0]);

after(watchResources());

for (const qos of [0, 1, 2] as const) {
  test(`a message of QoS ${qos} reaches a real broker over MQTT 5`, real, async (t) => {
    const { url } = await startMosquitto(t);
    const messages = await collect(t, url);
    const { publish, logs } = await startMqtt(t, { url });

    await publish({ qos, payload: "grün ☀" });

    await until(() => messages.length > 0);
    assert.deepEqual(messages, [{ topic: "home/desk", payload: "grün ☀", qos, retain: false }]);
    assert.equal(logs[0]?.fields?.["protocolVersion"], 5);
  });
}

test("a retained message is kept by the broker", real, async (t) => {
  const { url } = await startMosquitto(t);
  const { publish } = await startMqtt(t, { url });

  await publish({ retain: true });

  const messages = await collect(t, url);
  await until(() => messages.length > 0);
  assert.equal(messages[0]?.retain, true);
});

test("a broker that closes an MQTT 5 connection is connected with 3.1.1", async (t) => {
  const url = await listen(t, (socket) => {
    socket.once("data", (connect) => {
      const level = connect[8]; // MQTT 3.1.1, 3.1.2.2
      if (level !== 4) return socket.destroy();
      socket.write(CONNACK);
      return socket.on("data", (packets) => {
        if (packets.at(-2) === PINGREQ) socket.write(PINGRESP);
      });
    });
  });
  const { publish } = await startMqtt(t, { url });

  await publish({ qos: 0 });
});

test("a frozen broker is detected with QoS 0 too", real, async (t) => {
  const mosquitto = await startMosquitto(t);
  const { publish } = await startMqtt(t, { url: mosquitto.url });
  await publish({ qos: 0 });
  mosquitto.freeze();

  await assert.rejects(publish({ qos: 0 }), { code: "broker_down" });
});

test("a hundred publishes of QoS 0 at once arrive in their order", real, async (t) => {
  const { url } = await startMosquitto(t);
  const messages = await collect(t, url);
  const { publish } = await startMqtt(t, { url });
  const payloads = Array.from({ length: 100 }, (_, at) => `${at}`);

  await Promise.all(payloads.map((payload) => publish({ payload, qos: 0 })));

  await until(() => messages.length === 100);
  assert.deepEqual(
    messages.map(({ payload }) => payload),
    payloads,
  );
});

test("a publish that the ACL denies is refused, and the client continues", real, async (t) => {
  const { url } = await startMosquitto(t, { acl: ["topic readwrite home/#"] });
  const { publish } = await startMqtt(t, { url });

  for (const qos of [1, 2] as const) {
    await assert.rejects(publish({ topic: "garage/door", qos }), {
      code: "broker_refused",
      message: "the broker refused a publish to garage/door: not authorized (135)",
    });
  }

  await publish();
});

test("a broker that dies during a publish is reported immediately", real, async (t) => {
  const mosquitto = await startMosquitto(t);
  stopTimers(t);
  const { publish } = await startMqtt(t, { url: mosquitto.url });
  await publish();
  mosquitto.freeze();

  await Promise.all([assert.rejects(publish(), { code: "broker_down" }), mosquitto.stop()]);
});

for (const topic of ["#", "home/+", "\0", "home\u0001", "x".repeat(70_000), ""]) {
  test(`the client survives the topic ${JSON.stringify(topic.slice(0, 10))}`, real, async (t) => {
    const { url } = await startMosquitto(t);
    const { publish } = await startMqtt(t, { url });

    await assert.rejects(publish({ topic }), MantelError);

    await until(() => publish().then(() => true));
  });
}

test("stopping finishes accepted publishes", real, async (t) => {
  const { url } = await startMosquitto(t);
  const messages = await collect(t, url);
  stopTimers(t);
  const { publish, stop } = await startMqtt(t, { url });
  await publish();
  const pending = Array.from({ length: 200 }, (_, at) => publish({ payload: `${at}`, qos: 2 }));

  await stop();

  await Promise.all(pending);
  await until(() => messages.length === 201);
});

test("a thousand publishes at once arrive in their order", real, async (t) => {
  const { url } = await startMosquitto(t);
  const messages = await collect(t, url);
  stopTimers(t);
  const { publish } = await startMqtt(t, { url });
  const payloads = Array.from({ length: 1_000 }, (_, at) => `${at}`);

  await Promise.all(payloads.map((payload) => publish({ payload })));

  await until(() => messages.length === 1_000);
  assert.deepEqual(
    messages.map(({ payload }) => payload),
    payloads,
  );
});
