import assert from "node:assert/strict";
import { after, test } from "node:test";
import { freePort } from "../../helpers/free-port.ts";
import { collect, startMosquitto } from "../../helpers/mosquitto.ts";
import { watchResources } from "../../helpers/resources.ts";
import { until } from "../../helpers/until.ts";
import { listen, real, startMqtt, stopTimers } from "./start-mqtt.ts";

after(watchResources());

test("without a broker a publish fails, and later ones without a wait", async (t) => {
  const { publish, degraded } = await startMqtt(t, { url: `mqtt://127.0.0.1:${await freePort()}` });

  await assert.rejects(publish(), { code: "broker_down" });
  stopTimers(t);
  await assert.rejects(publish(), { code: "broker_down" });
  t.mock.timers.reset();

  assert.match(await until(degraded), /^nothing listens at 127\.0\.0\.1/);
});

test("a publish just after the start waits for the connection", real, async (t) => {
  const { url } = await startMosquitto(t);
  const { publish } = await startMqtt(t, { url });

  await publish();
});

test("a returning broker is connected again, and no messages were queued", real, async (t) => {
  const mosquitto = await startMosquitto(t);
  const { publish, degraded } = await startMqtt(t, { url: mosquitto.url });
  await publish();
  await mosquitto.stop();
  await until(degraded);
  await assert.rejects(publish({ payload: "while away" }), { code: "broker_down" });

  await mosquitto.start();
  const messages = await collect(t, mosquitto.url);
  await until(() => publish({ payload: "back" }).then(() => true));

  assert.equal(degraded(), undefined);
  await until(() => messages.length > 0);
  assert.deepEqual(
    messages.map(({ payload }) => payload),
    ["back"],
  );
});

test("a broker that only restarts is not reported", real, async (t) => {
  const mosquitto = await startMosquitto(t);
  const { publish, logs } = await startMqtt(t, { url: mosquitto.url });
  await publish();
  await mosquitto.stop();
  await mosquitto.start();

  await publish();

  assert.deepEqual(
    logs.filter(({ level }) => level === "warn"),
    [],
  );
});

test("a frozen broker is disconnected and used again when it responds", real, async (t) => {
  const mosquitto = await startMosquitto(t);
  const { publish } = await startMqtt(t, { url: mosquitto.url });
  await publish();
  mosquitto.freeze();

  await assert.rejects(publish(), { code: "broker_down" });
  mosquitto.thaw();

  await until(() => publish().then(() => true));
});

test("stopping does not wait for a broker that never answers", async (t) => {
  const silent = await listen(t, () => undefined);
  stopTimers(t);
  const { stop } = await startMqtt(t, { url: silent });

  await stop();
});
