import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { connect } from "mqtt";
import { freePort } from "../helpers/free-port.ts";
import { startHost, type TestHost } from "../helpers/host.ts";
import { loadNow, until } from "../helpers/until.ts";
import { crash, saveEquivalentCode } from "../helpers/upheaval.ts";

const PAUSE_MS = 50;
const TOPIC = "bench/drop";
const PASSWORD = "canary-5d1f";

interface Published {
  readonly payload: string;
  readonly status: number;
  readonly ms: number;
}

test("during reloads of the link every publish arrives once, and clients stay connected", async (t) => {
  const { host, received, connections } = await openHome(t);

  const published = await publishDuring(host, async () => {
    await saveEquivalentCode(host, "mqtt");
    await saveEquivalentCode(host, "mqtt");
  });

  assert.deepEqual(new Set(published.map(({ status }) => status)), new Set([200]));
  await until(() => received.length >= published.length);
  assert.deepEqual(
    received,
    published.map(({ payload }) => payload),
  );
  assert.equal(connections(), 1);
});

test("a crash of the link leaves at most one publish unknown and repeats none", async (t) => {
  const { host, received, connections } = await openHome(t);

  const published = await publishDuring(host, () => crash(host, "mqtt"));

  const [doubtful = [], others = []] = [true, false].map((isDoubtful) =>
    published.filter(({ status }) => (status === 504) === isDoubtful),
  );
  assert.ok(doubtful.length <= 1);
  assert.deepEqual(new Set(others.map(({ status }) => status)), new Set([200]));
  await until(() => others.every(({ payload }) => received.includes(payload)));
  assert.equal(new Set(received).size, received.length);
  assert.equal(connections(), 1);
});

test("during reloads of the broker a publish is either refused or acknowledged and delivered", async (t) => {
  const { host, received, connections } = await openHome(t);

  const published = await publishDuring(host, async () => {
    await saveEquivalentCode(host, "mqtt-broker");
    await saveEquivalentCode(host, "mqtt-broker");
  });

  const acknowledged = published.filter(({ status }) => status === 200);
  const refused = published.filter(({ status }) => status !== 200);
  await until(() => acknowledged.every(({ payload }) => received.includes(payload)));
  assert.ok(connections() > 1, "its clients connect again");
  assert.ok(
    acknowledged.length * loadNow() > refused.length,
    `${refused.length} of ${published.length} refused`,
  );
  assert.ok(refused.every(({ status, ms }) => status === 503 && ms < 4_000 * loadNow()));
});

/** A host with the embedded broker, and a client of it whose session outlasts its connections. */
async function openHome(t: TestContext) {
  const port = await freePort();
  const host = await startHost(t, {
    plugins: ["plugins/mqtt", "plugins/mqtt-broker"],
    config: { "mqtt-broker": { port, users: { listener: { password: PASSWORD, read: [TOPIC] } } } },
  });
  const received: string[] = [];
  let connections = 0;
  const client = connect(`mqtt://127.0.0.1:${port}`, {
    username: "listener",
    password: PASSWORD,
    clientId: "listener",
    clean: false,
    protocolVersion: 4,
    reconnectPeriod: 50,
  });
  t.after(() => client.endAsync(true));
  client.on("error", () => undefined); // it connects again
  client.on("connect", () => connections++);
  client.on("message", (_, payload) => received.push(payload.toString()));
  await client.subscribeAsync(TOPIC, { qos: 1 });
  await until(async () => (await publish(host, "first")).status === 200);
  await until(() => received.length === 1);
  received.length = 0;
  return { host, received, connections: () => connections };
}

/** Publishes one message after the other until `work` is done, and one more. */
async function publishDuring(host: TestHost, work: () => Promise<void>): Promise<Published[]> {
  const all: Published[] = [];
  const state = { isDone: false };
  const done = work().finally(() => (state.isDone = true));
  while (!state.isDone) {
    all.push(await publish(host, String(all.length)));
    await delay(PAUSE_MS);
  }
  await done;
  all.push(await publish(host, "last"));
  return all;
}

async function publish(host: TestHost, payload: string): Promise<Published> {
  const startedAt = performance.now();
  const json = { topic: TOPIC, payload, qos: 1 };
  const { status } = await host.api("/mqtt/publish", { method: "POST", json });
  return { payload, status, ms: performance.now() - startedAt };
}
