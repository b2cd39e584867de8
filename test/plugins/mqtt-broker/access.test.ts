import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { after, test } from "node:test";
import { promisify } from "node:util";
import { hashPassword, isPasswordHash } from "@mantel/plugin-sdk/password-hash";
import { connect } from "mqtt";
import { DECOY } from "../../../plugins/mqtt-broker/accounts.ts";
import { collect } from "../../helpers/mosquitto.ts";
import { watchResources } from "../../helpers/resources.ts";
import { until } from "../../helpers/until.ts";
import { connected, startBroker } from "./start-broker.ts";

after(watchResources());

const run = promisify(execFile);
const PROGRAM = "/usr/bin/mosquitto_pub";
const withoutProgram = existsSync(PROGRAM) ? false : `${PROGRAM} is not installed`;

const garden = { password: "watering-can", read: ["garden/#"], write: ["garden/+/state"] };

test("a client without credentials is refused, and the log contains the fix", async (t) => {
  const { url, logs } = await startBroker(t);

  await assert.rejects(connected(t, url), { code: 5 });

  const { sentence, fields } = logs.at(-1) ?? {};
  assert.equal(sentence, "a client without a user name was refused; add it to mqtt-broker.users");
  assert.equal(fields?.["times"], 1);
});

test("plugins get a unique password for each broker", async (t) => {
  const first = await startBroker(t);
  const second = await startBroker(t);

  assert.match(first.login.password, /^[\w-]{43}$/);
  assert.notEqual(first.login.password, second.login.password);
  const client = await connected(t, first.url, first.login);
  await client.publishAsync("home/desk", "on", { qos: 1 });
  await assert.rejects(connected(t, second.url, first.login), { code: 4 });
});

test("the password of plugins stays the same over a reload", async (t) => {
  const first = await startBroker(t);
  const handedOver = JSON.parse(JSON.stringify(await first.stop()));

  const second = await startBroker(t, { port: first.port, handedOver });

  assert.deepEqual(second.login, first.login);
});

test("a user is accepted by password, stored as a hash or as plain text", async (t) => {
  const { url } = await startBroker(t, {
    users: { plain: garden, hashed: { ...garden, password: await hashPassword("watering-can") } },
  });

  for (const username of ["plain", "hashed"]) {
    await connected(t, url, { username, password: "watering-can" });
    await connected(t, url, { username, password: "watering-can" });
    const wrong = connected(t, url, { username, password: "watering-cap" });
    await assert.rejects(wrong, { code: 4 });
  }
  const unknown = connected(t, url, { username: "nobody", password: "watering-can" });
  await assert.rejects(unknown, { code: 4 });
});

test("the password of an unknown name is compared with a hash that costs as much as those of users", async () => {
  const parameters = (hash: string) => hash.split("$").slice(0, 3);

  assert.ok(isPasswordHash(DECOY));
  assert.deepEqual(parameters(DECOY), parameters(await hashPassword("watering-can")));
});

test("a password hash is not accepted as the password", async (t) => {
  const password = await hashPassword("watering-can");
  const { url } = await startBroker(t, { users: { hashed: { ...garden, password } } });

  await assert.rejects(connected(t, url, { username: "hashed", password }), { code: 4 });
});

test("a user reads and writes the topics of the config and no others", async (t) => {
  const { url, login, logs } = await startBroker(t, { users: { garden } });
  const heard = await collect(t, url, login);
  const client = await connected(t, url, { username: "garden", password: garden.password });
  const messages: string[] = [];
  client.on("message", (topic) => messages.push(topic));

  const refused = await client.subscribeAsync("#", { qos: 1 }).catch((error: unknown) => error);
  await client.subscribeAsync("garden/+/state", { qos: 1 });
  await client.publishAsync("home/door", "open", { qos: 1, retain: true });
  await client.publishAsync("home/door", "open", { qos: 2 });
  await client.publishAsync("home/door", "open", { qos: 0 });
  await client.publishAsync("garden/pump/state", "on", { qos: 1 });

  assert.ok(refused instanceof Error);
  await until(() => messages.length > 0 && heard.length > 0);
  assert.deepEqual(messages, ["garden/pump/state"]);
  assert.deepEqual(
    heard.map(({ topic }) => topic),
    ["garden/pump/state"],
  );
  assert.deepEqual(
    logs.filter(({ level }) => level === "warn").map(({ sentence, fields }) => [sentence, fields]),
    [
      [
        "a subscription was refused; mqtt-broker.users says what a user reads",
        { user: "garden", filter: "#", times: 1 },
      ],
      [
        "a publish was dropped; mqtt-broker.users says what a user writes",
        { user: "garden", topic: "home/door", times: 1 },
      ],
    ],
  );
});

test("a refused subscription of a lasting session is not kept for its return", async (t) => {
  const { url, login } = await startBroker(t, { users: { garden } });
  const lasting = { clientId: "spy", clean: false, username: "garden", password: garden.password };
  const spy = await connected(t, url, lasting);
  const filters = { "garden/#": { qos: 1 }, "home/#": { qos: 1 } } as const;
  await spy.subscribeAsync(filters).catch(() => undefined);
  await spy.endAsync();
  const client = await connected(t, url, login);
  await client.publishAsync("home/door", "open", { qos: 1 });
  await client.publishAsync("garden/pump", "on", { qos: 1 });

  const messages: string[] = [];
  const back = connect(url, { ...lasting, protocolVersion: 4, reconnectPeriod: 0 });
  t.after(() => back.endAsync(true));
  back.on("message", (topic) => messages.push(topic));
  await until(() => messages.length > 0);
  await client.publishAsync("home/door", "shut", { qos: 1 });
  await client.publishAsync("garden/pump", "off", { qos: 1 });
  await until(() => messages.length > 1);
  assert.deepEqual(messages, ["garden/pump", "garden/pump"]);
});

test("a last will to a topic that its sender may not write is not published", async (t) => {
  const { url, login } = await startBroker(t, { users: { garden } });
  const heard = await collect(t, url, login);
  const willing = (topic: string) =>
    connected(t, url, {
      username: "garden",
      password: garden.password,
      will: { topic, payload: Buffer.from("gone"), qos: 1, retain: false },
    });
  const denied = await willing("home/door");
  const allowed = await willing("garden/pump/state");

  denied.stream.destroy();
  allowed.stream.destroy();

  await until(() => heard.length > 0);
  assert.deepEqual(
    heard.map(({ topic }) => topic),
    ["garden/pump/state"],
  );
});

test("a client id belongs to the user who came with it", async (t) => {
  const { url, login } = await startBroker(t, { users: { garden } });
  const plugins = await connected(t, url, { ...login, clientId: "mantel-1" });
  const thief = { username: "garden", password: garden.password, clientId: "mantel-1" };

  await assert.rejects(connected(t, url, thief), { code: 2 });

  assert.ok(plugins.connected);
  const again = await connected(t, url, { ...login, clientId: "mantel-1" });
  assert.ok(again.connected);
});

test("clients without a name may do what the option anonymous says", async (t) => {
  const { url, login } = await startBroker(t, { anonymous: { write: ["sensors/#"] } });
  const heard = await collect(t, url, login);
  const client = await connected(t, url);

  await client.publishAsync("home/door", "open", { qos: 1 });
  await client.publishAsync("sensors/one", "1", { qos: 1 });
  await assert.rejects(client.subscribeAsync("sensors/#"));

  await until(() => heard.length > 0);
  assert.deepEqual(
    heard.map(({ topic }) => topic),
    ["sensors/one"],
  );
});

test("a dropped publish does not block others", async (t) => {
  const { url, login } = await startBroker(t, { users: { garden } });
  const heard = await collect(t, url, login);
  const denied = await connected(t, url, { username: "garden", password: garden.password });
  const client = await connected(t, url, login);

  const flood = Array.from({ length: 300 }, (_, at) =>
    denied.publishAsync("home/door", `${at}`, { qos: (at % 3) as 0 | 1 | 2 }),
  );
  await client.publishAsync("home/desk", "on", { qos: 1 });
  await Promise.all(flood);

  await until(() => heard.length > 0);
  assert.equal(heard.length, 1);
  assert.ok(denied.connected && client.connected);
});

test(
  "mosquitto_pub is accepted with a password and refused without",
  { skip: withoutProgram },
  async (t) => {
    const { url, login, port } = await startBroker(t, { users: { garden } });
    const heard = await collect(t, url, login);
    const publish = (...more: string[]) =>
      run(PROGRAM, [
        "-h",
        "127.0.0.1",
        "-p",
        `${port}`,
        "-t",
        "garden/pump/state",
        "-m",
        "on",
        ...more,
      ]);

    await assert.rejects(publish("-q", "1"), /not authorised/);
    await publish("-q", "1", "-u", "garden", "-P", garden.password);

    await until(() => heard.length > 0);
  },
);

test("a client id is free again once its user has left the config", async (t) => {
  const first = await startBroker(t, { anonymous: { read: ["#"] } });
  const lasting = { clientId: "sensor", clean: false } as const;
  const anonymous = await connected(t, first.url, lasting);
  await anonymous.subscribeAsync("home/#", { qos: 1 });
  await anonymous.endAsync();
  const handedOver = JSON.parse(JSON.stringify(await first.stop()));

  const second = await startBroker(t, { port: first.port, users: { garden }, handedOver });

  const login = { username: "garden", password: garden.password };
  assert.ok((await connected(t, second.url, { ...lasting, ...login })).connected);
});
