import assert from "node:assert/strict";
import { after, type TestContext, test } from "node:test";
import { homeNotify } from "@mantel/plugin-sdk/services";
import { startPlugin, testOptions } from "@mantel/plugin-sdk/testing";
import plugin from "../../../plugins/ntfy/index.ts";
import { startNtfy } from "../../fakes/ntfy.ts";
import { watchResources } from "../../helpers/resources.ts";

after(watchResources());

const PEOPLE = [
  { name: "Anna", topic: "anna-8d2k" },
  { name: "Ben", topic: "ben-1x9z" },
];

async function start(t: TestContext, config: object, server: object = {}) {
  const ntfy = await startNtfy(t, server);
  const started = await startPlugin(plugin, {
    config: { topic: "home-1", server: ntfy.url, ...config },
  });
  t.after(() => started.stop());
  const notify = (message: string, ...to: string[]) =>
    started.call(homeNotify, { message, ...(to.length > 0 && { to }) });
  return { ntfy, started, notify };
}

test("a message without receivers goes to the topic of the home", async (t) => {
  const { ntfy, started, notify } = await start(t, {});

  await notify("The door is open 🚪");

  assert.deepEqual(ntfy.published, [
    { topic: "home-1", title: "Mantel", message: "The door is open 🚪" },
  ]);
  assert.equal(started.degraded, undefined);
});

test("a message to people goes to their topics only, and to that of the home if nobody has one", async (t) => {
  const { ntfy, notify } = await start(t, { people: PEOPLE, title: "Home" });

  await notify("one", "Anna");
  await notify("two", "Anna", "Ben", "Anna");
  await notify("three", "Carla");

  assert.deepEqual(ntfy.published.map(({ topic, message }) => `${message} ${topic}`).toSorted(), [
    "one anna-8d2k",
    "three home-1",
    "two anna-8d2k",
    "two ben-1x9z",
  ]);
  assert.equal(ntfy.published[0]?.title, "Home");
});

test("a protected topic takes messages with the token", async (t) => {
  const { ntfy, notify } = await start(
    t,
    { token: "tk_good" },
    { protectedTopics: ["home-1"], tokens: ["tk_good"] },
  );

  await notify("hello");

  assert.equal(ntfy.published.length, 1);
});

for (const [what, config, reason] of [
  ["no token", {}, /answered 403: forbidden; it needs a token that may write to the topic/],
  ["a wrong token", { token: "tk_bad" }, /answered 401: unauthorized; it needs a token/],
] as const) {
  test(`a message with ${what} for a protected topic is an error, once, and the module is degraded`, async (t) => {
    const { ntfy, started, notify } = await start(t, config, {
      protectedTopics: ["home-1"],
      tokens: ["tk_good"],
    });

    await assert.rejects(notify("hello"), { code: "service_unavailable", message: reason });

    assert.match(started.degraded ?? "", reason);
    assert.equal(ntfy.requests, 1);
  });
}

test("an overloaded, failing or breaking server is asked again, and the module recovers", async (t) => {
  const { ntfy, started, notify } = await start(t, {});
  ntfy.failNext(503, 0, 429);
  await assert.rejects(notify("lost"), {
    code: "service_unavailable",
    message: /answered 429: limit reached/,
  });
  const degraded = started.degraded;
  ntfy.failNext(500);

  await notify("sent");

  assert.match(degraded ?? "", /429/);
  assert.equal(started.degraded, undefined);
  assert.deepEqual(
    ntfy.published.map(({ message }) => message),
    ["sent"],
  );
  assert.equal(ntfy.requests, 5);
});

test("a server that is away is named with the reason", async (t) => {
  const { started, notify } = await start(t, { server: "http://127.0.0.1:9" });

  await assert.rejects(notify("hello"), {
    message: /http:\/\/127\.0\.0\.1:9 cannot be reached \(/,
  });

  assert.match(started.degraded ?? "", /cannot be reached/);
});

test("the address of something else is named as such", async (t) => {
  const { ntfy } = await start(t, {});
  const { notify } = await start(t, { server: `${ntfy.url}/elsewhere` });

  await assert.rejects(notify("hello"), {
    message: /404: page not found; it is not the address of an ntfy server/,
  });
});

test("a long message is cut to 4,096 bytes between characters", async (t) => {
  const { ntfy, notify } = await start(t, {});

  await notify("🚪".repeat(3_000));

  const { message = "" } = ntfy.published[0] ?? {};
  assert.match(message, /^(🚪)+…$/u);
  assert.equal(Buffer.byteLength(message), 4_095);
});

test("the options are tested by a message to the topic", async (t) => {
  const ntfy = await startNtfy(t);
  const config = { topic: "home-1", server: ntfy.url };

  const sentence = await testOptions(plugin, { config });

  assert.equal(sentence, "a message was sent to the topic home-1");
  assert.deepEqual(
    ntfy.published.map(({ topic }) => topic),
    ["home-1"],
  );
  await assert.rejects(
    testOptions(plugin, { config: { ...config, server: "http://127.0.0.1:9" } }),
    {
      message: /cannot be reached/,
    },
  );
});
