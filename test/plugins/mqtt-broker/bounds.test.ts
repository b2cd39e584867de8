import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { after, test, type TestContext } from "node:test";
import { connect as connectClient, type MqttClient } from "mqtt";
import { Accounts, PLUGINS_ACCOUNT } from "../../../plugins/mqtt-broker/accounts.ts";
import { openBroker } from "../../../plugins/mqtt-broker/broker.ts";
import { Listener } from "../../../plugins/mqtt-broker/listener.ts";
import { collect } from "../../helpers/mosquitto.ts";
import { watchResources } from "../../helpers/resources.ts";
import { until } from "../../helpers/until.ts";
import { connected, startBroker } from "./start-broker.ts";

after(watchResources());

const MiB = 2 ** 20;

/** A broker with the limits of a test, for two users and Mantel's plugins. */
async function startBounded(t: TestContext, limits: Parameters<typeof openBroker>[0]["limits"]) {
  const logs: string[] = [];
  const warn = (sentence: string) => void logs.push(sentence);
  const log = { debug: () => undefined, info: warn, warn, error: warn };
  const rights = { read: ["#"], write: ["#"] };
  const users = {
    garden: { password: "watering-can", ...rights },
    kitchen: { password: "coffee-machine", ...rights },
  };
  const accounts = new Accounts({ users }, "plugins-password");
  const broker = await openBroker({ accounts, log, ...(limits ? { limits } : {}) });
  const listener = new Listener("127.0.0.1", broker.accept);
  const port = await listener.open(0);
  t.after(async () => {
    await listener.close();
    await broker.close();
  });
  const login = (username: keyof typeof users | typeof PLUGINS_ACCOUNT) => ({
    ...({ username, protocolVersion: 4, reconnectPeriod: 0 } as const),
    password: username === PLUGINS_ACCOUNT ? "plugins-password" : users[username].password,
  });
  return { url: `mqtt://127.0.0.1:${port}`, port, login, logs };
}

/** A connection that writes what it is told, and is closed with the test. */
async function dial(t: TestContext, port: number): Promise<Socket> {
  const socket = connect(port, "127.0.0.1");
  socket.on("error", () => undefined); // a reset is as good an end as any
  t.after(() => socket.destroy());
  await once(socket, "connect");
  return socket;
}

/** Unlike `once` of Node it takes a reset for an end. */
function closing(connection: MqttClient | Socket): Promise<void> {
  return new Promise((resolve) => connection.once("close", () => resolve()));
}

/** The fixed header of a packet whose rest has so many bytes (MQTT 3.1.1, 2.2.3). */
function header(type: number, length: number): Buffer {
  const bytes = [type];
  do {
    bytes.push((length % 128) | (length >= 128 ? 0x80 : 0));
    length = Math.floor(length / 128);
  } while (length > 0);
  return Buffer.from(bytes);
}

test("a packet above 1 MiB is refused at its header without reading the rest", async (t) => {
  const { url, login } = await startBroker(t);
  const other = await connected(t, url, login);
  const client = await connected(t, url, login);
  const closed = closing(client);

  client.stream.write(header(0x30, MiB + 1));

  await closed;
  await other.publishAsync("home/desk", "on", { qos: 1 });
});

test("a packet of 1 MiB arrives", async (t) => {
  const { url, login } = await startBroker(t);
  const lengths: number[] = [];
  const listener = await connected(t, url, login);
  listener.on("message", (_, { length }) => lengths.push(length));
  await listener.subscribeAsync("home/#");
  const client = await connected(t, url, login);
  const payload = Buffer.alloc(MiB - "home/desk".length - 4);

  await client.publishAsync("home/desk", payload, { qos: 1 });

  await until(() => lengths.length > 0);
  assert.deepEqual(lengths, [payload.length]);
});

test("the first packet of a connection has a lower limit", async (t) => {
  const { port, logs } = await startBroker(t);
  const socket = await dial(t, port);
  const closed = closing(socket);

  socket.write(header(0x10, 65 * 1024));

  await closed;
  const { sentence, fields } = logs.at(-1) ?? {};
  assert.equal(sentence, "a packet was refused and its connection closed");
  assert.equal(fields?.["reason"], "a packet may have 65536 bytes");
});

test("a length of more than four bytes is refused", async (t) => {
  const { port } = await startBroker(t);
  const socket = await dial(t, port);
  const closed = closing(socket);

  socket.write(Buffer.from([0x10, 0x80, 0x80, 0x80, 0x80]));

  await closed;
});

test("200 packets of 220 MiB cost the broker no memory and no client its connection", async (t) => {
  const { url, port, login } = await startBroker(t);
  const client = await connected(t, url, login);
  const before = process.memoryUsage().rss;

  await Promise.all(
    Array.from({ length: 200 }, async () => {
      const socket = await dial(t, port);
      const closed = closing(socket);
      socket.write(Buffer.concat([header(0x30, 220 * MiB), Buffer.alloc(1024)]));
      await closed;
    }),
  );

  await client.publishAsync("home/desk", "on", { qos: 1 });
  const grown = (process.memoryUsage().rss - before) / MiB;
  assert.ok(grown < 64, `${grown} MiB more`);
});

test("a packet that arrives too slowly ends the connection", async (t) => {
  const { port, logs } = await startBounded(t, { connections: { packetMs: 50 } });
  const socket = await dial(t, port);
  const closed = closing(socket);

  socket.write(header(0x10, 60_000));
  const drip = setInterval(() => socket.write(Buffer.alloc(1)), 10);
  t.after(() => clearInterval(drip));

  await closed;
  assert.deepEqual(logs, ["a packet came too slowly and its connection was closed"]);
});

test("unfinished packets share a limit, and the longest one is dropped", async (t) => {
  const { url, login, logs } = await startBounded(t, { connections: { unfinishedBytes: 3_000 } });
  const long = await connected(t, url, login("garden"));
  const short = await connected(t, url, login("garden"));
  const closed = closing(long);

  long.stream.write(Buffer.concat([header(0x30, 10_000), Buffer.alloc(2_000)]));
  short.stream.write(Buffer.concat([header(0x30, 10_000), Buffer.alloc(1_500)]));

  await closed;
  assert.ok(short.connected);
  assert.deepEqual(logs, ["too many packets were unfinished; the longest was refused"]);
});

test("silent connections are dropped for new ones, authenticated ones are not", async (t) => {
  const { url, port, login } = await startBounded(t, { connections: { strangers: 3 } });
  const client = await connected(t, url, login("garden"));
  const first = await dial(t, port);
  const closed = closing(first);
  for (let left = 3; left > 0; left--) await dial(t, port);

  await closed;
  const another = await connected(t, url, login("garden"));
  assert.ok(client.connected && another.connected);
});

test("a user with many connections blocks neither other users nor plugins", async (t) => {
  const { url, login } = await startBounded(t, {
    connections: { others: 3, ofOneUser: 3, plugins: 1 },
  });
  const [first] = [
    await connected(t, url, login("garden")),
    await connected(t, url, login("garden")),
    await connected(t, url, login("garden")),
  ];
  const gone = closing(first);

  await assert.rejects(connected(t, url, login("garden")), { code: 3 });
  const other = await connected(t, url, login("kitchen"));
  const plugins = await connected(t, url, login(PLUGINS_ACCOUNT));

  await gone;
  assert.ok(other.connected && plugins.connected);
  await assert.rejects(connected(t, url, login(PLUGINS_ACCOUNT)), { code: 3 });
});

test("a client has a bounded number of subscriptions, and may change which", async (t) => {
  const { url, login, logs } = await startBounded(t, { sessions: { subscriptions: 2 } });
  const client = await connected(t, url, login("garden"));
  await client.subscribeAsync(["one", "two"]);

  await assert.rejects(client.subscribeAsync("three"));
  await client.unsubscribeAsync("one");
  await client.subscribeAsync("three");

  assert.deepEqual(logs, ["a subscription was refused: the client has too many"]);
});

test("the number of retained messages is limited, and existing ones can be changed and removed", async (t) => {
  const { url, login, logs } = await startBounded(t, { retained: { messages: 2 } });
  const client = await connected(t, url, login("garden"));
  const retain = (topic: string, payload: string) =>
    client.publishAsync(topic, payload, { qos: 1, retain: true });
  await retain("one", "1");
  await retain("two", "1");
  await retain("three", "1");
  await retain("two", "2");

  const kept = await collect(t, url, login("garden"));
  await until(() => kept.length === 2);
  assert.deepEqual(
    kept.map(({ topic, payload }) => [topic, payload]),
    [
      ["one", "1"],
      ["two", "2"],
    ],
  );
  await retain("one", "");
  await retain("three", "1");
  assert.deepEqual(logs, ["a retained message was not kept: there are too many"]);
});

test("the size of retained messages is limited", async (t) => {
  const { url, login } = await startBounded(t, { retained: { bytes: 100 } });
  const client = await connected(t, url, login("garden"));
  const retain = (topic: string, length: number) =>
    client.publishAsync(topic, "x".repeat(length), { qos: 1, retain: true });
  await retain("one", 60);
  await retain("two", 60);
  await retain("one", 200);

  const kept = await collect(t, url, login("garden"));
  await until(() => kept.length > 0);
  assert.deepEqual(
    kept.map(({ topic, payload }) => [topic, payload.length]),
    [["one", 60]],
  );
});

/** Leaves behind a session that listens to `filter`. */
async function leave(
  t: TestContext,
  url: string,
  { filter, ...options }: { clientId: string; filter: string; username: string; password: string },
): Promise<void> {
  const client = await connected(t, url, { ...options, clean: false });
  await client.subscribeAsync(filter, { qos: 1 });
  await client.endAsync();
}

/** The messages that waited for a session. */
async function fetchQueue(t: TestContext, url: string, options: object): Promise<string[]> {
  const payloads: string[] = [];
  const client = connectClient(url, { ...options, clean: false });
  t.after(() => client.endAsync(true));
  client.on("message", (_, payload) => payloads.push(payload.toString()));
  const { sessionPresent } = await new Promise<{ sessionPresent: boolean }>((resolve) =>
    client.once("connect", resolve),
  );
  if (!sessionPresent) return ["no session"];
  await client.publishAsync("marker", "last", { qos: 1 });
  await until(() => payloads.includes("last"));
  return payloads;
}

test("the queue for an offline client is limited", async (t) => {
  const { url, login, logs } = await startBounded(t, { sessions: { queued: 2 } });
  const absent = { ...login("garden"), clientId: "absent" };
  await leave(t, url, { ...absent, filter: "#" });
  const client = await connected(t, url, login("garden"));
  for (const payload of ["1", "2", "3"]) await client.publishAsync("home", payload, { qos: 1 });

  const payloads = await fetchQueue(t, url, absent);

  assert.deepEqual(payloads, ["1", "2", "last"]);
  assert.deepEqual(logs, ["a message for an absent client was dropped"]);
});

test("a session that reconnects with a clean start loses its old queue", async (t) => {
  const { url, login } = await startBounded(t, { sessions: { queuedBytesOfAll: 500 } });
  const absent = { ...login("garden"), clientId: "absent" };
  const client = await connected(t, url, login("garden"));
  for (const payload of ["1", "2", "3", "4"]) {
    await leave(t, url, { ...absent, filter: "#" });
    await client.publishAsync("home", `${payload}a`, { qos: 1 });
    await client.publishAsync("home", `${payload}b`, { qos: 1 });
    await (await connected(t, url, absent)).endAsync();
  }
  await leave(t, url, { ...absent, filter: "#" });
  await client.publishAsync("home", "5", { qos: 1 });

  assert.deepEqual(await fetchQueue(t, url, absent), ["5", "last"]);
});

test("the oldest offline session of the user with the most sessions is replaced", async (t) => {
  const { url, login } = await startBounded(t, { sessions: { sessions: 3 } });
  const kitchen = { ...login("kitchen"), clientId: "kitchen-1" };
  await leave(t, url, { ...kitchen, filter: "#" });
  const ids = ["1", "2", "3"].map((clientId) => ({ ...login("garden"), clientId }));
  for (const each of ids) await leave(t, url, { ...each, filter: "#" });

  const queues: string[][] = [];
  const [first = kitchen, ...others] = ids;
  for (const each of [kitchen, ...others, first]) queues.push(await fetchQueue(t, url, each));

  const isGone = queues.map(([payload]) => payload === "no session");
  assert.deepEqual(isGone, [false, false, false, true]);
});

test("a client that does not read is disconnected at the buffer limit, and others continue", async (t) => {
  const { url, port, login, logs } = await startBounded(t, {
    connections: { backlogBytes: 2 * MiB },
  });
  const stalled = await dial(t, port);
  const closed = closing(stalled);
  const { username, password } = login("garden");
  const text = (value: string) =>
    Buffer.concat([Buffer.from([0, value.length]), Buffer.from(value)]);
  const hello = [
    text("MQTT"),
    Buffer.from([4, 0xc2, 0, 0]),
    text("stalled"),
    text(username),
    text(password),
  ];
  const rest = Buffer.concat(hello);
  stalled.write(Buffer.concat([header(0x10, rest.length), rest]));
  const filter = Buffer.concat([Buffer.from([0, 1]), text("#"), Buffer.from([0])]);
  stalled.write(Buffer.concat([header(0x82, filter.length), filter]));
  await once(stalled, "data");
  stalled.pause();
  const client = await connected(t, url, login("kitchen"));

  const payload = Buffer.alloc(MiB / 2);
  let sent = 0;
  while (!logs.includes("a client that reads too slowly was disconnected") && sent < 200) {
    await client.publishAsync("home", payload, { qos: 1 });
    sent += 1;
  }

  assert.ok(sent < 200, "it is let go");
  stalled.resume();
  await closed;
  await client.publishAsync("home", "on", { qos: 1 });
});
