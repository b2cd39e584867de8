import assert from "node:assert/strict";
import { test } from "node:test";
import { watchResources } from "../../helpers/resources.ts";
import { admin, editor, openConfig } from "./open-config.ts";

test("without files every key has its default", async (t) => {
  const { config } = await openConfig(t);

  assert.equal(config.current.ui.theme, "auto");
  assert.equal(config.current.calendar.refreshSeconds, 900);
  assert.deepEqual(config.current.mqtt.denyTopics, ["zigbee2mqtt/bridge/request/#"]);
  assert.equal(config.current.mqtt.url, undefined);
});

test("the allowlist matches the documented one, and every other key needs admin", async (t) => {
  const { config } = await openConfig(t);

  const { writable, adminWritable } = config.view().meta;

  assert.deepEqual(writable.toSorted(), [
    "calendar.defaultDays",
    "calendar.refreshSeconds",
    "devices.pollSeconds",
    "log.level",
    "system.sampleSeconds",
    "ui.idleSeconds",
    "ui.locale",
    "ui.night",
    "ui.theme",
    "ui.timeZone",
    "ui.units",
  ]);
  assert.ok(adminWritable.includes("mqtt.password"));
  assert.ok(!adminWritable.some((key) => writable.includes(key)));
});

test("a patch applies immediately, is stored, and listeners are informed", async (t) => {
  const { config, stored } = await openConfig(t);
  const told: string[] = [];
  config.onChange((changed) => told.push(...changed));
  const before = config.revision;

  const answer = await config.patch({ ui: { theme: "dark", idleSeconds: 60 } }, editor);

  assert.deepEqual(answer.changed, ["ui.theme", "ui.idleSeconds"]);
  assert.ok(answer.revision > before);
  assert.equal(config.current.ui.theme, "dark");
  assert.deepEqual(await stored(), { ui: { theme: "dark", idleSeconds: 60 } });
  assert.deepEqual(told, answer.changed);
});

test("a patch that changes nothing keeps the revision", async (t) => {
  const { config } = await openConfig(t);
  const before = config.revision;

  const answer = await config.patch({ ui: { theme: "auto" }, calendar: {} }, editor);

  assert.deepEqual(answer.changed, []);
  assert.equal(answer.revision, before);
});

test("null resets a key or a whole section to its default", async (t) => {
  const { config, stored } = await openConfig(t);
  await config.patch({ ui: { theme: "dark", units: "imperial" }, log: { level: "debug" } }, editor);

  await config.patch({ ui: null, log: { level: null } }, editor);

  assert.equal(config.current.ui.theme, "auto");
  assert.equal(config.current.log.level, "info");
  assert.deepEqual(await stored(), {});
});

test("unset parts of a value have their defaults", async (t) => {
  const files = { "config.json": '{"server":{"rateLimit":{"burst":5}}}' };
  const { config } = await openConfig(t, { files });

  assert.deepEqual(config.current.server.rateLimit, { perSecond: 20, burst: 5, loopback: false });

  await config.patch({ server: { rateLimit: { burst: null } } }, admin);

  assert.equal(config.current.server.rateLimit.burst, 100);
});

test("values survive a restart, and the revision increases across it", async (t) => {
  const { config, dataFolder } = await openConfig(t);
  const { revision } = await config.patch(
    { ui: { night: { from: "22:30", to: "06:30" } } },
    editor,
  );
  await config.close();

  const { config: next } = await openConfig(t, { dataFolder });

  assert.deepEqual(next.current.ui.night, { from: "22:30", to: "06:30" });
  assert.ok(next.revision > revision);
});

test("a stale If-Match changes nothing", async (t) => {
  const { config } = await openConfig(t);
  const ifMatch = `"${config.revision}"`;
  await config.patch({ ui: { theme: "dark" } }, { ...editor, ifMatch });

  await assert.rejects(config.patch({ ui: { theme: "light" } }, { ...editor, ifMatch }), {
    code: "revision_stale",
  });

  assert.equal(config.current.ui.theme, "dark");
});

test("only one of two concurrent patches with the same If-Match is applied", async (t) => {
  const { config } = await openConfig(t);
  const ifMatch = `"${config.revision}"`;

  const results = await Promise.allSettled(
    ["dark", "light"].map((theme) => config.patch({ ui: { theme } }, { ...editor, ifMatch })),
  );

  assert.deepEqual(results.map(({ status }) => status).toSorted(), ["fulfilled", "rejected"]);
});

test("name and password are extracted from the broker's address", async (t) => {
  const { config, stored } = await openConfig(t);

  await config.patch({ mqtt: { url: "mqtts://me:p%40ss@broker.local:8883" } }, admin);

  const { url, username, password } = config.current.mqtt;
  assert.deepEqual(
    { url, username, password },
    { url: "mqtts://broker.local:8883", username: "me", password: "p@ss" },
  );
  assert.doesNotMatch(JSON.stringify(await stored()), /p@ss|p%40ss/);
});

test("the environment overrides the config, and a patch of such a key names the variable", async (t) => {
  const { config } = await openConfig(t, {
    environment: { MANTEL_LOG_LEVEL: "debug", MANTEL_MQTT_URL: "mqtt://me:canary@127.0.0.1:1884" },
    files: { "config.json": '{"log":{"level":"error"}}' },
  });

  assert.equal(config.current.log.level, "debug");
  assert.equal(config.current.mqtt.url, "mqtt://127.0.0.1:1884");
  assert.equal(config.current.mqtt.password, "canary");
  await assert.rejects(config.patch({ log: { level: "warn" } }, editor), {
    code: "invalid",
    message: /\/log\/level is set by the environment variable MANTEL_LOG_LEVEL/,
  });
});

test("an invalid variable stops the start and is named", async (t) => {
  await assert.rejects(openConfig(t, { environment: { MANTEL_LOG_LEVEL: "loud" } }), {
    code: "invalid",
    message: /^MANTEL_LOG_LEVEL is invalid: \/log\/level is "loud"; it must be one of/,
  });
});

test("a module is switched off under modules", async (t) => {
  const { config } = await openConfig(t);

  const { changed } = await config.patch({ modules: { "demo-home": { enabled: false } } }, admin);

  assert.deepEqual(changed, ["modules.demo-home"]);
  assert.equal(config.current.modules["demo-home"]?.enabled, false);
  await assert.rejects(config.patch({ modules: { Demo: { enabled: false } } }, admin), {
    code: "invalid",
  });
});

test("closing leaves nothing open", async (t) => {
  const assertClosed = watchResources();
  const { config } = await openConfig(t);

  await config.close();

  await assertClosed();
});

test("misspelled environment variables are logged at the start, and right ones are not", async (t) => {
  const { log } = await openConfig(t, { environment: { MANTEL_LOG_LEVLE: "debug", PATH: "/bin" } });
  const { log: silent } = await openConfig(t, { environment: { MANTEL_LOG_LEVEL: "debug" } });

  assert.deepEqual(log.records, [
    {
      level: "warn",
      sentence: "unknown environment variables",
      fields: { unknown: ["MANTEL_LOG_LEVLE"] },
    },
  ]);
  assert.deepEqual(silent.records, []);
});

test("a listener is called for each change until it unsubscribes", async (t) => {
  const { config } = await openConfig(t);
  const told: string[] = [];
  const stop = config.onChange((changed) => told.push(...changed));

  await config.patch({ ui: { theme: "dark" } }, editor);
  stop();
  await config.patch({ ui: { theme: "light" } }, editor);

  assert.deepEqual(told, ["ui.theme"]);
});
