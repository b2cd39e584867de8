import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import type { MantelError } from "@mantel/plugin-sdk/errors";
import { MqttClient } from "../../../plugin-sdk/mqtt/client.ts";
import type { MqttBroker } from "../../../plugin-sdk/services/mqtt.ts";
import { collectedLog } from "../../helpers/collected-log.ts";
import { onTestEnd } from "../../helpers/on-test-end.ts";
import { until, untilByTurns } from "../../helpers/until.ts";
import { startScriptedBroker } from "./scripted-broker.ts";

/** A client that runs until the test ends, with what it reported. */
function startClient(t: TestContext, broker: () => Promise<MqttBroker>) {
  const log = collectedLog();
  const reported: string[] = [];
  const refused: (string | undefined)[] = [];
  const parts = { connected: 0 };
  const client = new MqttClient({
    broker,
    log,
    status: { ok: () => reported.push("ok"), degraded: (reason) => reported.push(reason) },
    onConnected: () => parts.connected++,
    onRefused: (sentence) => refused.push(sentence),
  });
  const ending = new AbortController();
  const running = client.run(ending.signal);
  const end = async () => {
    ending.abort();
    await running;
  };
  onTestEnd(t, end);
  return { client, log, reported, refused, parts, end };
}

/** A client that is connected to a broker of this test. */
async function openClient(t: TestContext) {
  const broker = await startScriptedBroker(t);
  const parts = { url: broker.url };
  const started = startClient(t, async () => ({ url: parts.url }));
  await started.client.attempted();
  const publish = (topic: string, qos: 0 | 1 = 1, payload = "x") =>
    started.client.publish({ topic, payload, qos, retain: false });
  return { ...started, broker, address: parts, publish };
}

const laterBy = (t: TestContext, ms: number) => {
  const now = performance.now.bind(performance);
  t.mock.method(performance, "now", () => now() + ms);
};

test("a client logs its connection with the broker and the version of MQTT", async (t) => {
  const { log, parts, reported, broker } = await openClient(t);

  const host = new URL(broker.url).host;
  assert.deepEqual(log.records, [
    { level: "info", sentence: "connected to the broker", fields: { host, protocolVersion: 5 } },
  ]);
  assert.deepEqual([parts.connected, broker.connections, reported], [1, 1, []]);
});

test("a published message reaches the broker as it is", async (t) => {
  const { client, broker } = await openClient(t);

  await client.publish({ topic: "home/lamp", payload: "on", qos: 1, retain: true });
  await client.publish({ topic: "home/lamp", payload: "off", qos: 0, retain: false });

  assert.deepEqual(
    broker.of("publish").map(({ topic, payload, qos, retain }) => [topic, payload, qos, retain]),
    [
      ["home/lamp", "on", 1, true],
      ["home/lamp", "off", 0, false],
    ],
  );
});

test("a publish of QoS 0 waits for the answer to a ping after it", async (t) => {
  const { broker, publish } = await openClient(t);
  broker.script.answersPings = false;
  let isDone = false;

  const published = publish("a", 0).then(() => (isDone = true));
  await until(() => broker.of("ping").length === 1);
  const wasDone = isDone;
  broker.pong();
  await published;

  assert.equal(wasDone, false);
  const types = broker.received.slice(-2).map(({ type }) => type);
  assert.deepEqual(types, ["publish", "ping"]);
});

test("a message of QoS 0 may be late at a busy broker, and the connection stays", async (t) => {
  const { broker, publish } = await openClient(t);
  broker.script.answersPings = false;
  t.mock.timers.enable({ apis: ["setTimeout"] });

  const results = ["busy", "silent"].map((topic) => publish(topic, 0).catch(String));
  await untilByTurns(() => broker.of("ping").length === 2);
  broker.pong();
  await turns(20);
  t.mock.timers.tick(1_800);
  const [first, second] = await Promise.all(results);
  t.mock.timers.reset();
  await turns(50);

  assert.equal(first, undefined);
  assert.match(String(second), /the publish timed out after 1[0-8]\d\d ms/);
  assert.equal(broker.open, 1);
});

test("a message that the broker refuses fails with the broker's reason and a shortened topic", async (t) => {
  const { broker, publish, log } = await openClient(t);
  broker.script.puback = () => 0x87;

  await assert.rejects(publish("a/b"), ({ code, message }: MantelError) => {
    assert.equal(code, "broker_refused");
    assert.equal(message, "the broker refused a publish to a/b: not authorized (135)");
    return true;
  });

  assert.deepEqual([broker.open, log.records.length], [1, 1], "the connection continues");
});

for (const [what, receiveMaximum, most] of [
  ["no limit", 0, 20],
  ["a limit of 3", 3, 3],
  ["a limit of 200", 200, 20],
] as const) {
  test(`a broker with ${what} gets ${most} messages at once`, async (t) => {
    const broker = await startScriptedBroker(t);
    broker.script.receiveMaximum = receiveMaximum;
    broker.script.puback = () => undefined;
    const { client } = startClient(t, async () => ({ url: broker.url }));
    await client.attempted();

    const results = Array.from({ length: 25 }, (_, at) =>
      client.publish({ topic: `t${at}`, payload: "", qos: 1, retain: false }).catch(String),
    );
    await until(() => broker.of("publish").length === most);
    await new Promise((done) => setImmediate(done));
    const sent = broker.of("publish").length;
    broker.drop();

    assert.equal(sent, most);
    await Promise.all(results);
  });
}

test("a lost connection rejects messages without an answer, and the next one works", async (t) => {
  const { broker, publish, parts, log } = await openClient(t);
  broker.script.puback = (topic) => (topic === "lost" ? undefined : 0);
  const lost = publish("lost");
  await until(() => broker.of("publish").length === 1);

  broker.drop();

  await assert.rejects(lost, ({ code, message }: MantelError) => {
    assert.equal(code, "broker_down");
    assert.match(message, /^the message was not acknowledged: /);
    return true;
  });
  await publish("next");
  assert.equal(parts.connected, 2);
  assert.equal(log.records[1]?.sentence, "lost the connection to the broker");
});

test("a broker that ends the connection is logged with its reason code", async (t) => {
  const { broker, parts, log } = await openClient(t);

  broker.disconnect(139);
  broker.drop();
  await until(() => parts.connected === 2);

  const { level, sentence, fields } = log.records[1] ?? {};
  assert.deepEqual([level, sentence], ["info", "lost the connection to the broker"]);
  assert.match(
    String(fields?.["reason"]),
    /^the broker closed the connection with reason code 139$/,
  );
});

test("a message without an answer closes the connection after 1.8 s", async (t) => {
  const { broker, publish, log } = await openClient(t);
  broker.script.puback = () => undefined;
  t.mock.timers.enable({ apis: ["setTimeout"] });

  const late = publish("late");
  late.catch(() => undefined);
  await untilByTurns(() => broker.of("publish").length === 1);
  t.mock.timers.tick(1_700);
  await turns(5);
  const wasOpen = broker.open;
  t.mock.timers.tick(200);

  await assert.rejects(late, { code: "broker_down" });
  await untilByTurns(() => log.records.length === 2);
  assert.equal(wasOpen, 1);
  assert.match(String(log.records[1]?.fields["reason"]), /the publish .*1[78]\d\d ms/);
});

test("a message that waited too long for its turn is not sent later", async (t) => {
  const { broker, publish } = await openClient(t);
  broker.script.puback = () => undefined;
  const first = Array.from({ length: 20 }, (_, at) => publish(`first/${at}`).catch(String));
  await until(() => broker.of("publish").length === 20);
  t.mock.timers.enable({ apis: ["setTimeout"] });

  const waiting = publish("waiting");
  waiting.catch(() => undefined);
  await turns(5);
  t.mock.timers.tick(1_800);
  await assert.rejects(waiting, { code: "broker_down" });
  t.mock.timers.reset();
  await turns(50);
  const wasOpen = broker.open;
  broker.drop();
  await Promise.all(first);

  assert.equal(wasOpen, 1, "another message may still be acknowledged");
  assert.ok(broker.of("publish").every(({ topic }) => topic !== "waiting"));
});

test("a publish waits for the connection for a second after the start, and no longer", async (t) => {
  const parts = { isThere: false, asked: 0 };
  const broker = await startScriptedBroker(t);
  const { client } = startClient(t, async () => {
    parts.asked += 1;
    if (!parts.isThere) throw new Error("the broker is unknown");
    return { url: broker.url };
  });
  const message = { topic: "a", payload: "", qos: 1, retain: false } as const;
  laterBy(t, -10_000); // a busy machine may take more than a second

  const early = client.publish(message);
  await client.attempted();
  parts.isThere = true;
  await early;

  assert.equal(broker.of("publish").length, 1);
  assert.ok(parts.asked >= 2);
});

test("a publish without a connection fails at once when the grace has passed", async (t) => {
  const { client } = startClient(t, () => Promise.reject(new Error("the broker is unknown")));
  await client.attempted();
  laterBy(t, 5_000);

  await assert.rejects(
    client.publish({ topic: "a", payload: "", qos: 1, retain: false }),
    ({ code, message, extras }: MantelError) => {
      assert.deepEqual([code, message], ["broker_down", "the broker is unknown"]);
      assert.equal(extras.retryAfterMs, 3_000);
      return true;
    },
  );
});

test("an unreachable broker is reported after a second, once for each reason, and its return too", async (t) => {
  const broker = await startScriptedBroker(t);
  const parts = { reason: "it is away" as string | undefined, asked: 0 };
  const { reported, log } = startClient(t, async () => {
    parts.asked += 1;
    if (parts.reason !== undefined) throw new Error(parts.reason);
    return { url: broker.url };
  });
  const attempts = async (count: number) => {
    const before = parts.asked;
    await until(() => parts.asked >= before + count);
  };
  await attempts(1);
  const early = [...reported];
  laterBy(t, 1_000);

  await attempts(2);
  parts.reason = "it is elsewhere";
  await attempts(2);
  parts.reason = undefined;
  await until(() => reported.includes("ok"));

  assert.deepEqual(early, []);
  assert.deepEqual(reported, ["it is away", "it is elsewhere", "ok"]);
  assert.deepEqual(
    log.records
      .slice(0, 2)
      .map(({ level, sentence, fields }) => [level, sentence, fields["reason"]]),
    [
      ["warn", "cannot connect to the broker", "it is away"],
      ["warn", "cannot connect to the broker", "it is elsewhere"],
    ],
  );
});

test("a broker that moved is followed within ten seconds", async (t) => {
  t.mock.timers.enable({ apis: ["setInterval"] });
  const { address, broker, parts, log } = await openClient(t);
  const other = await startScriptedBroker(t);
  t.mock.timers.tick(10_000);
  await turns(10);
  const before = [broker.open, log.records.length];

  address.url = other.url;
  t.mock.timers.tick(9_999);
  await turns(10);
  const beforeTime = broker.open;
  t.mock.timers.tick(1);
  await until(() => parts.connected === 2);

  assert.deepEqual([before, beforeTime], [[1, 1], 1]);
  assert.equal(other.connections, 1);
  assert.equal(log.records[1]?.fields["reason"], "the broker's address has changed");
});

test("a connection stays if its broker cannot be looked up any more", async (t) => {
  t.mock.timers.enable({ apis: ["setInterval"] });
  const broker = await startScriptedBroker(t);
  const parts = { isKnown: true, asked: 0 };
  const { client, log } = startClient(t, async () => {
    parts.asked += 1;
    if (!parts.isKnown) throw new Error("unknown");
    return { url: broker.url };
  });
  await client.attempted();
  parts.isKnown = false;

  t.mock.timers.tick(10_000);
  await turns(10);

  assert.deepEqual([parts.asked, broker.open, log.records.length], [2, 1, 1]);
});

test("filters of one turn are subscribed to in one packet, and their messages arrive", async (t) => {
  const { client, broker } = await openClient(t);
  const heard: unknown[] = [];

  client.subscribe("a/+", (topic, payload, retained) =>
    heard.push([topic, payload.toString(), retained]),
  );
  client.subscribe("b", (topic) => heard.push(topic));
  const wasSubscribed = client.isSubscribed;
  await until(() => client.isSubscribed);
  broker.say("a/x", "one", true);
  broker.say("b", "two");
  await until(() => heard.length === 2);

  assert.equal(wasSubscribed, false);
  assert.deepEqual(
    broker.of("subscribe").map(({ filters }) => filters),
    [["a/+", "b"]],
  );
  assert.deepEqual(heard, [["a/x", "one", true], "b"]);
});

test("a client is not subscribed until the broker has answered", async (t) => {
  const { client, broker } = await openClient(t);
  broker.script.suback = () => undefined;

  client.subscribe("a", () => undefined);
  await until(() => broker.of("subscribe").length === 1);

  assert.equal(client.isSubscribed, false);
});

test("a new connection subscribes to all filters before it counts as connected", async (t) => {
  const broker = await startScriptedBroker(t);
  const { client, parts } = startClient(t, async () => ({ url: broker.url }));
  client.subscribe("a", () => undefined);
  client.subscribe("b", () => undefined)();
  await client.attempted();

  broker.script.suback = () => undefined;
  broker.drop();
  await until(() => broker.of("subscribe").length === 2);
  await turns(10);

  assert.deepEqual(
    broker.of("subscribe").map(({ filters }) => filters),
    [["a"], ["a"]],
  );
  assert.equal(parts.connected, 1);
});

test("a subscription is ended at the broker once no handler is left", async (t) => {
  const { client, broker } = await openClient(t);
  const endings = [client.subscribe("a", () => undefined), client.subscribe("a", () => undefined)];
  await until(() => client.isSubscribed);

  endings[0]?.();
  await turns(10);
  const before = broker.of("unsubscribe").length;
  endings[1]?.();
  await until(() => broker.of("unsubscribe").length === 1);

  assert.equal(before, 0);
  assert.deepEqual(broker.of("unsubscribe")[0]?.filters, ["a"]);
});

test("refused filters are reported in one sentence and logged, and the others work", async (t) => {
  const { client, broker, refused, log } = await openClient(t);
  const long = `refused/${"x".repeat(80)}`;
  broker.script.suback = (filter) => (filter.startsWith("refused") ? 0x87 : 0);
  const heard: string[] = [];

  client.subscribe("fine", (topic) => heard.push(topic));
  const end = client.subscribe("refused/1", () => undefined);
  await until(() => client.isSubscribed);
  const endOther = client.subscribe(long, () => undefined);
  await until(() => client.isSubscribed);
  broker.say("fine", "");
  await until(() => heard.length === 1);
  end();
  endOther();

  const sentence = "the broker refused the subscription to refused/1";
  assert.deepEqual(refused, [
    sentence,
    `${sentence} and 1 more`,
    `the broker refused the subscription to ${long}`,
    undefined,
  ]);
  const [, first] = log.records;
  assert.deepEqual(
    [first?.level, first?.sentence, first?.fields],
    ["warn", "the broker refused subscriptions", { filter: "refused/1", count: 1 }],
  );
  assert.deepEqual(broker.of("unsubscribe"), [], "a refused filter needs no end");
});

test("a new connection on which no filter is refused reports that", async (t) => {
  const { client, broker, refused, parts } = await openClient(t);
  broker.script.suback = () => 0x87;
  client.subscribe("a", () => undefined);
  await until(() => refused.length === 1);

  broker.drop();
  await until(() => parts.connected === 2);
  broker.script.suback = () => 0;
  broker.drop();
  await until(() => parts.connected === 3);
  broker.drop();
  await until(() => parts.connected === 4);

  const sentence = "the broker refused the subscription to a";
  assert.deepEqual(refused, [sentence, sentence, undefined]);
});

test("a subscription without an answer closes the connection after five seconds", async (t) => {
  const { client, broker, log } = await openClient(t);
  broker.script.suback = () => undefined;
  t.mock.timers.enable({ apis: ["setTimeout"] });

  client.subscribe("a", () => undefined);
  await untilByTurns(() => broker.of("subscribe").length === 1);
  t.mock.timers.tick(4_999);
  await turns(10);
  const wasOpen = broker.open;
  t.mock.timers.tick(1);
  await untilByTurns(() => broker.open === 0);
  await untilByTurns(() => log.records.length === 2);
  t.mock.timers.reset();

  assert.equal(wasOpen, 1);
  assert.match(
    String(log.records[1]?.fields["reason"]),
    /a subscription to 1 filters: the subscription/,
  );
});

test("an ended client says goodbye to its broker", async (t) => {
  const { broker, end, log } = await openClient(t);

  await end();

  await until(() => broker.open === 0);
  assert.equal(broker.of("disconnect").length, 1);
  assert.equal(log.records.length, 1, "its end is not a loss");
});

test("an attempt that fails ends the wait for the first connection", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] }); // its own wait does not end
  const { client, parts } = startClient(t, () => Promise.reject(new Error("unknown")));
  let isOver = false;

  void client.attempted().then(() => (isOver = true));
  await untilByTurns(() => isOver);

  t.mock.timers.reset();
  assert.equal(parts.connected, 0);
});

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise((done) => setImmediate(done));
}
