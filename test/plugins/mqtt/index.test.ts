import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, test } from "node:test";
import { brokerAddress } from "@mantel/plugin-sdk";
import { startPlugin } from "@mantel/plugin-sdk/testing";
import { faultsOf } from "../../../host/validate.ts";
import broker from "../../../plugins/mqtt-broker/index.ts";
import plugin from "../../../plugins/mqtt/index.ts";
import { freePort } from "../../helpers/free-port.ts";
import { collect, startMosquitto } from "../../helpers/mosquitto.ts";
import { watchResources } from "../../helpers/resources.ts";
import { until } from "../../helpers/until.ts";
import { real, startMqtt } from "./start-mqtt.ts";

after(watchResources());

const brokerConfig = async () => ({ host: "127.0.0.1", users: {}, port: await freePort() });

test("without an address the client uses the embedded broker, over MQTT 3.1.1", async (t) => {
  const embedded = await startPlugin(broker, { config: await brokerConfig() });
  t.after(() => embedded.stop());
  const { url, ...login } = await embedded.call(brokerAddress, {});
  const messages = await collect(t, url, { protocolVersion: 4, ...login });
  const { publish, logs } = await startMqtt(t, {}, () => embedded.call(brokerAddress, {}));

  await publish({ qos: 2 });

  await until(() => messages.length > 0);
  assert.deepEqual(messages, [{ topic: "home/desk", payload: "on", qos: 2, retain: false }]);
  assert.equal(logs[0]?.fields?.["protocolVersion"], 4);
});

test("the embedded broker's address is asked for again at each attempt", async (t) => {
  const first = await startPlugin(broker, { config: await brokerConfig() });
  let serving = first;
  const { publish } = await startMqtt(t, {}, () => serving.call(brokerAddress, {}));
  await publish();
  await first.stop();
  serving = await startPlugin(broker, { config: await brokerConfig() });
  t.after(() => serving.stop());

  await until(() => publish().then(() => true));
});

test("a broker that requires credentials accepts them", real, async (t) => {
  const { url } = await startMosquitto(t, { users: { mantel: "canary-7f3a" } });
  const { publish } = await startMqtt(t, { url, username: "mantel", password: "canary-7f3a" });

  await publish();
});

test("wrong credentials make the client degraded and are not logged", real, async (t) => {
  const { url, port } = await startMosquitto(t, { users: { mantel: "right" } });
  const { degraded, logs } = await startMqtt(t, {
    url,
    username: "mantel",
    password: "canary-7f3a",
  });

  await until(degraded);

  assert.equal(degraded(), `127.0.0.1:${port} refuses the user name or the password`);
  assert.doesNotMatch(JSON.stringify(logs), /canary/);
});

test("a TLS broker is trusted by its certificate in mqtt.ca", real, async (t) => {
  const { url, caFile } = await startMosquitto(t, { tls: true });
  const { publish } = await startMqtt(t, { url, ca: await readFile(caFile, "utf8") });

  await publish();
});

test("a broker with an untrusted certificate gets no data", real, async (t) => {
  const { url } = await startMosquitto(t, { tls: true });
  const { publish, degraded } = await startMqtt(t, { url });

  await assert.rejects(publish(), { code: "broker_down" });

  assert.match(
    await until(degraded),
    /^the certificate of 127\.0\.0\.1:\d+ is not trusted \(.+option "ca"/,
  );
});

test("without a broker plugin the client reports what is missing", async (t) => {
  const { degraded } = await startMqtt(t, {});

  await until(degraded);

  assert.equal(degraded(), "nothing provides broker.address");
});

test("a broker is reached over a web socket", real, async (t) => {
  const port = await freePort();
  await startMosquitto(t, { lines: [`listener ${port} lo`, "protocol websockets"] });
  const { publish } = await startMqtt(t, { url: `ws://127.0.0.1:${port}` });

  await until(() => publish().then(() => true));
});

for (const url of [
  "http://nas.local",
  "nas.local:1883",
  "mqtt://mantel:secret@nas.local",
  "mqtt://",
]) {
  test(`${url} is refused as a broker address`, () => {
    assert.notDeepEqual(faultsOf(options(), { url }), []);
  });
}

for (const url of [
  "mqtt://nas.local",
  "mqtts://10.0.0.2:8883",
  "wss://nas.local/mqtt",
  "mqtt://[::1]:1883",
]) {
  test(`${url} is accepted as a broker address`, () => {
    assert.deepEqual(faultsOf(options(), { url }), []);
  });
}

function options() {
  assert.ok(plugin.options);
  return plugin.options;
}
