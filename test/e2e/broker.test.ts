import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { connectAsync, type IClientOptions } from "mqtt";
import { freePort } from "../helpers/free-port.ts";
import { startHost, type TestHost } from "../helpers/host.ts";
import { startMosquitto, withoutMosquitto } from "../helpers/mosquitto.ts";
import { until } from "../helpers/until.ts";

const PLUGINS = ["plugins/demo-home", "plugins/mqtt", "plugins/mqtt-broker"];

/** All that arrives at a broker from now on, by topic. */
async function listen(
  t: TestContext,
  url: string,
  login: IClientOptions = {},
): Promise<ReadonlyMap<string, string>> {
  const client = await connectAsync(url, login);
  t.after(() => client.endAsync());
  const received = new Map<string, string>();
  client.on("message", (topic, payload) => received.set(topic, payload.toString()));
  await client.subscribeAsync("#", { qos: 1 });
  return received;
}

/**
 * Publishes, commands a lamp and activates a scene, and waits until the broker has had all three. The first one is
 * refused until the plugin is connected, within two seconds; without the connection the demo drops the others.
 */
async function assertArrives(host: TestHost, received: ReadonlyMap<string, string>): Promise<void> {
  const post = async (path: string, json?: object) =>
    (await host.api(path, { method: "POST", ...(json ? { json } : {}) })).status;

  const message = { topic: "garden/pump", payload: "on", qos: 1 };
  const publish = await until(async () => {
    const status = await post("/mqtt/publish", message);
    return status !== 503 && status;
  });
  const command = await post("/smart-home/devices/demo:light:1/command", { brightness: 33 });
  const scene = await post("/smart-home/scenes/demo:scene:3/activate");

  assert.deepEqual([publish, command, scene], [200, 200, 200]);
  await until(() => received.size >= 3);
  assert.equal(received.get("garden/pump"), "on");
  assert.equal(received.get("mantel/demo-home/sofa-lamp/set"), '{"on":true,"brightness":33}');
  assert.ok([...received.keys()].some((topic) => topic.startsWith("mantel/demo-home/scenes/")));
}

test(
  "a command, a scene and a publish arrive at the broker of MANTEL_MQTT_URL",
  { skip: withoutMosquitto },
  async (t) => {
    const mosquitto = await startMosquitto(t);
    const received = await listen(t, mosquitto.url);
    const host = await startHost(t, { plugins: PLUGINS, env: { MANTEL_MQTT_URL: mosquitto.url } });

    await assertArrives(host, received);

    const broker = (await (await host.api("/modules/mqtt-broker")).json()) as { state: string };
    assert.equal(broker.state, "disabled");
  },
);

test("without a configured broker they arrive at the embedded one", async (t) => {
  const port = await freePort();
  const login = { username: "listener", password: "canary-5d1f" };
  const users = { listener: { password: login.password, read: ["#"] } };
  const host = await startHost(t, { plugins: PLUGINS, config: { "mqtt-broker": { port, users } } });
  const received = await listen(t, `mqtt://127.0.0.1:${port}`, login);

  await assertArrives(host, received);
});
