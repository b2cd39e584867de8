import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import type { MantelError } from "@mantel/plugin-sdk/errors";
import { MqttClient, type MqttClientOptions } from "../../../plugin-sdk/mqtt/client.ts";
import { collectedLog } from "../../helpers/collected-log.ts";
import { onTestEnd } from "../../helpers/on-test-end.ts";
import { untilByTurns } from "../../helpers/until.ts";
import { startScriptedBroker } from "./scripted-broker.ts";

const message = { topic: "a", payload: "", qos: 1, retain: false } as const;
const unknown = () => Promise.reject(new Error("the broker is unknown"));

/** A running client with timers of this test. */
function startClient(t: TestContext, options: Pick<MqttClientOptions, "broker">) {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const log = collectedLog();
  const status = { ok: () => undefined, degraded: () => undefined };
  const client = new MqttClient({ ...options, log, status });
  const ending = new AbortController();
  const running = client.run(ending.signal);
  onTestEnd(t, async () => {
    t.mock.timers.reset();
    ending.abort();
    await running;
  });
  return { client, log, ending, running };
}

/** A client whose attempts are counted, with a broker that is away until the test says otherwise. */
async function startAttempts(t: TestContext, random: number) {
  t.mock.method(Math, "random", () => random);
  const broker = await startScriptedBroker(t);
  const state = { attempts: 0, isThere: false };
  const started = startClient(t, {
    broker: async () => {
      state.attempts += 1;
      return state.isThere ? { url: broker.url } : unknown();
    },
  });
  await turns(20);
  /** Lets the clock pass the wait before the next attempt, and returns if it was exactly this long. */
  const isNextAfter = async (ms: number) => {
    const before = state.attempts;
    t.mock.timers.tick(ms - 1);
    await turns(20);
    const wasEarly = state.attempts > before;
    t.mock.timers.tick(1);
    await turns(20);
    return !wasEarly && state.attempts === before + 1;
  };
  return { ...started, broker, state, isNextAfter };
}

test("connection attempts repeat after 100 ms, and each later wait is twice as long, up to 3 s", async (t) => {
  const { isNextAfter } = await startAttempts(t, 1);

  for (const ms of [100, 200, 400, 800, 1_600, 3_000, 3_000]) {
    assert.ok(await isNextAfter(ms), `${ms} ms`);
  }
});

test("a connection attempt comes up to a quarter sooner, so that clients do not reconnect all at once", async (t) => {
  const { isNextAfter } = await startAttempts(t, 0);

  for (const ms of [75, 150, 300]) assert.ok(await isNextAfter(ms), `${ms} ms`);
});

for (const [what, lastedMs, retryMs] of [
  ["at once after a connection that lasted", 5_001, 100],
  ["as late as after a failure if the connection was short", 4_000, 800],
] as const) {
  test(`a client attempts again ${what}`, async (t) => {
    const { isNextAfter, state, broker, log } = await startAttempts(t, 1);
    assert.ok(await isNextAfter(100));
    assert.ok(await isNextAfter(200));
    state.isThere = true;
    const at = performance.now();
    const clock = { aheadMs: 0 };
    t.mock.method(performance, "now", () => at + clock.aheadMs);
    assert.ok(await isNextAfter(400));
    await untilByTurns(() => log.records.some(({ sentence }) => sentence.startsWith("connected")));

    clock.aheadMs = lastedMs;
    broker.drop();
    await untilByTurns(() => log.records.some(({ sentence }) => sentence.startsWith("lost")));
    await turns(20);

    assert.ok(await isNextAfter(retryMs));
  });
}

test("a client that is ended does not wait for its next attempt", async (t) => {
  const { running, ending, state } = await startAttempts(t, 1);

  ending.abort();
  await running;

  assert.equal(state.attempts, 1);
});

test("a client that was not started says that it is starting", async (t) => {
  const log = collectedLog();
  const status = { ok: () => undefined, degraded: () => undefined };
  const client = new MqttClient({ broker: unknown, log, status });
  const now = performance.now.bind(performance);
  t.mock.method(performance, "now", () => now() + 1_000);

  await assert.rejects(client.publish(message), {
    code: "broker_down",
    message: "the MQTT connection is starting",
  });
});

test("a look-up of the broker that takes longer than a second has failed", async (t) => {
  const { client } = startClient(t, { broker: () => new Promise(() => undefined) });
  const attempted = client.attempted();

  t.mock.timers.tick(1_000);
  await attempted;
  const now = performance.now.bind(performance);
  t.mock.method(performance, "now", () => now() + 1_000);

  await assert.rejects(client.publish(message), /finding the broker timed out after 1000 ms/);
});

test("waiting for the first attempt ends with the connection, and not with the time limit", async (t) => {
  const broker = await startScriptedBroker(t);
  t.mock.method(AbortSignal, "timeout", () => new AbortController().signal);
  const { client, log } = startClient(t, { broker: async () => ({ url: broker.url }) });

  await client.attempted();

  assert.deepEqual(
    log.records.map(({ sentence }) => sentence),
    ["connected to the broker"],
  );
});

for (const [what, limitMs, wait] of [
  ["the first attempt", 2_000, (client: MqttClient) => client.attempted()],
  ["a connection", 1_000, (client: MqttClient) => client.publish(message).catch(String)],
] as const) {
  test(`waiting for ${what} ends after ${limitMs} ms`, async (t) => {
    const limit = new AbortController();
    const limits: number[] = [];
    t.mock.method(AbortSignal, "timeout", (ms: number) => {
      limits.push(ms);
      return limit.signal;
    });
    const log = collectedLog();
    const status = { ok: () => undefined, degraded: () => undefined };
    const client = new MqttClient({ broker: unknown, log, status });
    let hasEnded = false;

    const waiting = wait(client).then(() => (hasEnded = true));
    await turns(5);
    const hadEnded = hasEnded;
    limit.abort();
    await waiting;

    assert.equal(hadEnded, false);
    assert.ok(Number(limits[0]) <= limitMs && Number(limits[0]) > limitMs - 200, String(limits));
  });
}

test("a client without listeners connects, and a refused filter does not stop it", async (t) => {
  const broker = await startScriptedBroker(t);
  broker.script.suback = () => 0x80;
  const { client, log } = startClient(t, { broker: async () => ({ url: broker.url }) });
  client.subscribe("a", () => undefined);
  await client.attempted();

  await client.publish(message);
  broker.script.suback = () => 0;
  broker.drop();
  await untilByTurns(() => log.records.some(({ sentence }) => sentence.startsWith("lost")));
  t.mock.timers.tick(100);
  await untilByTurns(() => broker.connections === 2);
  await untilByTurns(() => broker.open === 1);
  await turns(20);

  assert.deepEqual(
    log.records.map(({ sentence }) => sentence),
    [
      "the broker refused subscriptions",
      "connected to the broker",
      "lost the connection to the broker",
      "connected to the broker",
    ],
  );
});

test("a message of QoS 1 without an answer closes a connection on which others are answered", async (t) => {
  const broker = await startScriptedBroker(t);
  const { client } = startClient(t, { broker: async () => ({ url: broker.url }) });
  await client.attempted();
  broker.script.puback = (topic) => (topic === "a" ? undefined : 0);

  const late = client.publish(message).catch((error: MantelError) => error);
  await untilByTurns(() => broker.of("publish").length === 1);
  await client.publish({ ...message, topic: "b" });
  t.mock.timers.tick(1_800);
  const error = (await late) as MantelError;
  await untilByTurns(() => broker.open === 0);

  assert.equal(error.code, "broker_down");
  assert.equal((error.cause as MantelError).code, "deadline_passed");
});

test("a message that waited too long for its turn is not sent when there is room", async (t) => {
  const broker = await startScriptedBroker(t);
  broker.script.receiveMaximum = 1;
  const { client } = startClient(t, { broker: async () => ({ url: broker.url }) });
  await client.attempted();
  broker.script.answersPings = false;
  const first = client.publish({ ...message, topic: "first", qos: 0 });
  await untilByTurns(() => broker.of("ping").length === 1);

  const waiting = client.publish(message).catch(String);
  await turns(5);
  broker.say("b", ""); // a busy broker
  await turns(20);
  t.mock.timers.tick(1_800);
  const results = await Promise.all([first.catch(String), waiting]);
  broker.pong();
  await turns(50);

  for (const result of results) assert.match(String(result), /the publish timed out/);
  assert.deepEqual([broker.open, broker.of("publish").length], [1, 1]);
});

test("a broker that does not answer the subscriptions of a new connection is disconnected", async (t) => {
  const broker = await startScriptedBroker(t);
  broker.script.suback = () => undefined;
  const { client } = startClient(t, { broker: async () => ({ url: broker.url }) });
  client.subscribe("a", () => undefined);
  await untilByTurns(() => broker.of("subscribe").length === 1);

  t.mock.timers.tick(5_000);

  await untilByTurns(() => broker.open === 0);
});

test("a broker that breaks the protocol is disconnected, and the reason is logged", async (t) => {
  const broker = await startScriptedBroker(t);
  const { client, log } = startClient(t, { broker: async () => ({ url: broker.url }) });
  await client.attempted();

  broker.send(Buffer.from([0x36, 3, 0, 1, 0x61])); // a QoS that no message has (MQTT 5, 3.3.1.2)
  await untilByTurns(() => log.records.length === 2);

  assert.match(String(log.records[1]?.fields["reason"]), /QoS/);
  await untilByTurns(() => broker.open === 0);
});

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise((done) => setImmediate(done));
}
