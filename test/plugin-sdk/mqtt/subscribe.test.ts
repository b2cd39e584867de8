import assert from "node:assert/strict";
import { after, test, type TestContext } from "node:test";
import { connectAsync } from "mqtt";
import { MqttClient } from "../../../plugin-sdk/mqtt/client.ts";
import { Subscriptions } from "../../../plugin-sdk/mqtt/subscriptions.ts";
import { collectedLog } from "../../helpers/collected-log.ts";
import { freePort } from "../../helpers/free-port.ts";
import { startMosquitto, withoutMosquitto } from "../../helpers/mosquitto.ts";
import { watchResources } from "../../helpers/resources.ts";
import { until } from "../../helpers/until.ts";
import { startOddBroker } from "./odd-broker.ts";

after(watchResources());

const real = { skip: withoutMosquitto };

/** A client that runs until the test ends, with what it reported. */
function startClient(t: TestContext, url: string) {
  const reported: (string | undefined)[] = [];
  const log = collectedLog();
  const connections: number[] = [];
  const refused: (string | undefined)[] = [];
  const client = new MqttClient({
    broker: async () => ({ url }),
    log,
    status: {
      ok: () => void reported.push(undefined),
      degraded: (reason) => void reported.push(reason),
    },
    onConnected: () => void connections.push(Date.now()),
    onRefused: (sentence) => void refused.push(sentence),
  });
  const ending = new AbortController();
  const running = client.run(ending.signal);
  const stop = async () => {
    ending.abort();
    await running;
  };
  t.after(stop);
  return { client, stop, reported, log, connections, refused };
}

test("messages arrive by filter, before and after the broker is killed", real, async (t) => {
  const broker = await startMosquitto(t);
  const { client, connections } = startClient(t, broker.url);
  const heard: string[] = [];
  client.subscribe(
    "home/+/state",
    (topic, payload) => void heard.push(`${topic} ${payload.toString()}`),
  );
  await until(() => connections.length === 1);
  const say = (payload: string) =>
    client.publish({ topic: "home/desk/state", payload, qos: 1, retain: false });
  await say("one");
  await until(() => heard.length === 1);

  await broker.stop();
  await broker.start();
  await until(() => connections.length === 2);
  await say("two");

  await until(() => heard.length === 2);
  assert.deepEqual(heard, ["home/desk/state one", "home/desk/state two"]);
});

test("an ended subscription receives no messages", real, async (t) => {
  const broker = await startMosquitto(t);
  const { client, connections } = startClient(t, broker.url);
  const heard: string[] = [];
  const end = client.subscribe("a", () => void heard.push("first"));
  client.subscribe("a", () => void heard.push("second"));
  await until(() => connections.length === 1);

  end();
  await client.publish({ topic: "a", payload: "", qos: 1, retain: false });

  await until(() => heard.length > 0);
  assert.deepEqual(heard, ["second"]);
});

test("ending a subscription after its client does not wait for the broker", real, async (t) => {
  const broker = await startMosquitto(t);
  const { client, stop, connections } = startClient(t, broker.url);
  const end = client.subscribe("a", () => undefined);
  await until(() => connections.length === 1);
  await stop();
  const before = process.getActiveResourcesInfo().length;

  end();

  assert.equal(process.getActiveResourcesInfo().length, before);
});

test("a payload of ten MiB is dropped and the connection continues", real, async (t) => {
  const broker = await startMosquitto(t);
  const { client, connections, log } = startClient(t, broker.url);
  const heard: string[] = [];
  const tooLong: number[] = [];
  client.subscribe("a", (_, payload) => void heard.push(payload.toString()), {
    onTooLong: (_topic, bytes) => void tooLong.push(bytes),
  });
  await until(() => connections.length === 1);
  const other = await connectAsync(broker.url);
  t.after(() => other.endAsync(true));

  await other.publishAsync("a", Buffer.alloc(10 * 2 ** 20));
  await other.publishAsync("a", "short");

  await until(() => heard.length > 0);
  assert.deepEqual(heard, ["short"]);
  assert.deepEqual(tooLong, [10 * 2 ** 20]);
  assert.equal(log.records.filter(({ level }) => level === "warn").length, 1);
  assert.equal(connections.length, 1);
});

test("other handlers get a message whose first handler throws", () => {
  const log = collectedLog();
  const subscriptions = new Subscriptions(log);
  const heard: string[] = [];
  subscriptions.add("a/#", () => {
    throw new Error("boom");
  });
  subscriptions.add("a/b", (topic) => void heard.push(topic));

  for (let i = 0; i < 20; i++) subscriptions.receive("a/b", Buffer.from(""), false);

  assert.equal(heard.length, 20);
  assert.equal(log.records.length, 2); // the first and the tenth
});

test("a broker that is unreachable for more than a second is reported with a reason, and its return too", async (t) => {
  const port = await freePort();
  const { reported } = startClient(t, `mqtt://127.0.0.1:${port}`);

  await until(() => reported.length > 0);

  assert.deepEqual(reported, [`nothing listens at 127.0.0.1:${port}`]);
});

for (const [filter, matching, others] of [
  ["a/b", ["a/b"], ["a", "a/b/c", "b/a"]],
  ["a/+", ["a/b", "a/"], ["a", "a/b/c"]],
  ["a/#", ["a", "a/b", "a/b/c"], ["b"]],
  ["#", ["a", "a/b"], ["$SYS/a"]],
  ["+/b", ["a/b"], ["$SYS/b", "a"]],
] as const) {
  test(`the filter ${filter} matches according to the MQTT standard`, () => {
    const subscriptions = new Subscriptions(collectedLog());
    const heard: string[] = [];
    subscriptions.add(filter, (topic) => void heard.push(topic));

    for (const topic of [...matching, ...others]) {
      subscriptions.receive(topic, Buffer.from(""), false);
    }

    assert.deepEqual(heard, matching);
  });
}

test("a refused filter is reported once, and the other filters work", async (t) => {
  const { url } = await startOddBroker(t);
  const { client, refused, log, connections } = startClient(t, url);
  let heard = 0;
  client.subscribe("refused/first", () => undefined);
  client.subscribe("a", () => heard++);
  await until(() => connections.length === 1);

  const end = client.subscribe("refused/later", () => undefined);
  await until(() => refused.length === 2);
  end();

  await until(() => heard > 5);
  assert.equal(connections.length, 1);
  assert.deepEqual(refused, [
    "the broker refused the subscription to refused/first",
    "the broker refused the subscription to refused/first and 1 more",
    "the broker refused the subscription to refused/first",
  ]);
  assert.equal(log.records.filter(({ level }) => level === "warn").length, 2);
});

test("the connection stays open while the broker is too busy to answer pings", async (t) => {
  const { url, pings } = await startOddBroker(t);
  const { client, connections, log } = startClient(t, url);
  await until(() => connections.length === 1);

  const message = { topic: "b", payload: "late", qos: 0, retain: false } as const;
  await assert.rejects(client.publish(message), { code: "broker_down" });

  assert.ok(pings.length > 0);
  assert.ok(!log.records.some(({ sentence }) => sentence.includes("was lost")));
});
