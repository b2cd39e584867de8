import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { PreconnectedClient } from "../../../plugin-sdk/mqtt/preconnected-client.ts";
import { collectedLog } from "../../helpers/collected-log.ts";
import { onTestEnd } from "../../helpers/on-test-end.ts";
import { until } from "../../helpers/until.ts";
import { startScriptedBroker } from "./scripted-broker.ts";

type Context = ConstructorParameters<typeof PreconnectedClient>[0];

/** A client whose plugin is being connected, and a listener that notes what it is told. */
async function openClient(t: TestContext) {
  const broker = await startScriptedBroker(t);
  const ending = new AbortController();
  const disposers: (() => unknown)[] = [];
  const client = new PreconnectedClient({
    config: { url: broker.url },
    log: collectedLog(),
    signal: ending.signal,
    onDispose: (dispose: () => unknown) => disposers.push(dispose),
  } as unknown as Context);
  const dispose = async () => {
    ending.abort();
    for (const each of disposers) await each();
  };
  onTestEnd(t, dispose);
  const told: string[] = [];
  const listener = {
    connected: () => void told.push("connected"),
    brokerIsAway: (reason: string | undefined) => void told.push(`away: ${reason}`),
    brokerRefuses: (sentence: string | undefined) => void told.push(`refused: ${sentence}`),
  };
  return { broker, client, dispose, disposers, told, listener };
}

test("a client that is connected before the start tells its listener so", async (t) => {
  const { client, listener, told } = await openClient(t);

  assert.equal(await client.open(), true);
  client.attach(listener);

  assert.deepEqual(told, ["connected"]);
});

test("a client whose broker refuses the connection opens without it, and tells when it is there", async (t) => {
  const { broker, client, listener, told } = await openClient(t);
  broker.script.connack = 0x87;

  const isConnected = await client.open();
  client.attach(listener);
  const before = [...told];
  broker.script.connack = 0;
  await until(() => told.length > 0);

  assert.deepEqual([isConnected, before, told], [false, [], ["connected"]]);
});

test("the listener gets refused subscriptions, also those from before it was attached", async (t) => {
  const { broker, client, listener, told } = await openClient(t);
  broker.script.suback = (filter) => (filter === "a" ? 0x87 : 0);
  await client.open();

  const end = client.client.subscribe("a", () => undefined);
  await client.until(() => client.client.isSubscribed, 2_000);
  client.attach(listener);
  end();

  const sentence = "the broker refused the subscription to a";
  assert.deepEqual(told, [`refused: ${sentence}`, "connected", "refused: undefined"]);
});

test("the listener is told why the broker is away, and when it returns", async (t) => {
  const { broker, client, listener, told } = await openClient(t);
  await client.open();
  client.attach(listener);
  const now = performance.now.bind(performance);
  let aheadMs = 2_000;
  t.mock.method(performance, "now", () => now() + aheadMs);

  broker.script.connack = 0x87;
  broker.drop();
  aheadMs = 4_000;
  await until(() => told.length === 2);
  const late = await openListener();
  broker.script.connack = 0;
  await until(() => told.length === 4);

  assert.match(told[1] ?? "", /^away: .+ refuses the user name or the password$/);
  assert.deepEqual(late, [told[1]], "it is not connected");
  assert.deepEqual(told.slice(2), ["away: undefined", "connected"]);

  /** The calls of a listener that is attached now. */
  async function openListener(): Promise<string[]> {
    const heard: string[] = [];
    client.attach({
      ...listener,
      connected: () => void heard.push("connected"),
      brokerIsAway: (reason) => void heard.push(`away: ${reason}`),
    });
    client.attach({ ...listener, brokerIsAway: () => undefined });
    client.attach(listener);
    told.splice(2);
    return heard;
  }
});

test("the client closes when its plugin ends, which waits for that", async (t) => {
  const { broker, client, dispose, disposers } = await openClient(t);
  await client.open();

  assert.ok(disposers[0]?.() instanceof Promise);
  await dispose();

  await until(() => broker.open === 0);
  assert.equal(broker.of("disconnect").length, 1);
});

test("a wait ends when its condition is true, or at its end", async (t) => {
  const { client } = await openClient(t);
  let asked = 0;
  const startedAt = performance.now();

  await client.until(() => ++asked === 3, 3_600_000);
  const askedFirst = asked;
  await client.until(() => false, 30);

  assert.equal(askedFirst, 3);
  assert.ok(performance.now() - startedAt >= 30);
});
