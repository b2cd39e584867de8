import assert from "node:assert/strict";
import { after, type TestContext, test } from "node:test";
import { homeNotify } from "@mantel/plugin-sdk/services";
import { startPlugin } from "@mantel/plugin-sdk/testing";
import plugin from "../../../plugins/web-push/index.ts";
import {
  browsersRoute,
  keyRoute,
  renewRoute,
  subscribeRoute,
  unsubscribeRoute,
} from "../../../plugins/web-push/routes.ts";
import { startPushService } from "../../fakes/push-service.ts";
import { emptyFolder } from "../../helpers/folder.ts";
import { watchResources } from "../../helpers/resources.ts";

after(watchResources());

async function start(t: TestContext, more: { title?: string; storage?: string } = {}) {
  const service = await startPushService(t);
  const { storage = await emptyFolder(t), ...options } = more;
  const config = { contact: "anna@example.org", services: [service.url], ...options };
  const open = async () => {
    const started = await startPlugin(plugin, { config, storage });
    t.after(() => started.stop().catch(() => undefined));
    return started;
  };
  const started = await open();
  const json = async (answer: Promise<{ readonly json?: unknown }>) => (await answer).json;
  const { publicKey } = (await json(started.request(keyRoute))) as { publicKey: string };
  const subscribe = async (name: string, person?: string) => {
    const browser = service.subscribe(publicKey);
    const body = { subscription: browser.subscription, name, ...(person && { person }) };
    const { id } = (await json(started.request(subscribeRoute, { body }))) as { id: string };
    return { ...browser, id };
  };
  const list = async () =>
    ((await json(started.request(browsersRoute))) as { browsers: { name: string }[] }).browsers;
  const notify = (message: string, ...to: string[]) =>
    started.call(homeNotify, { message, ...(to.length > 0 && { to }) });
  return { service, started, open, publicKey, subscribe, list, notify };
}

test("each subscribed browser gets a message, which it alone can read", async (t) => {
  const { service, subscribe, notify, started } = await start(t);
  const [phone, tablet] = [await subscribe("phone"), await subscribe("tablet")];

  await notify("The door is open 🚪");

  const message = { title: "Mantel", body: "The door is open 🚪" };
  assert.deepEqual([phone.messages, tablet.messages], [[message], [message]]);
  assert.deepEqual(service.refusals, []);
  assert.equal(started.degraded, undefined);
});

test("a message to people goes to their browsers only, and to all if nobody has one", async (t) => {
  const { subscribe, notify } = await start(t, { title: "Home" });
  const [anna, ben, hall] = [
    await subscribe("phone", "Anna"),
    await subscribe("computer", "Ben"),
    await subscribe("hall"),
  ];

  await notify("one", "Anna");
  await notify("two", "Ben", "Anna");
  await notify("three", "Carla");

  const bodies = [anna, ben, hall].map(({ messages }) =>
    messages.map((message) => (message as { body: string }).body),
  );
  assert.deepEqual(bodies, [["one", "two", "three"], ["two", "three"], ["three"]]);
});

test("a browser with another subscription keeps its name and person, and gets messages there", async (t) => {
  const { service, started, publicKey, subscribe, list, notify } = await start(t);
  const phone = await subscribe("phone", "Anna");
  const next = service.subscribe(publicKey);
  const { subscription } = next;

  await started.request(renewRoute, {
    body: { subscription, replaces: phone.subscription.endpoint },
  });
  await notify("hello", "Anna");

  assert.deepEqual([phone.messages.length, next.messages.length], [0, 1]);
  assert.deepEqual(
    (await list()).map(({ name }) => name),
    ["phone"],
  );
  const again = started.request(renewRoute, {
    body: { subscription, replaces: phone.subscription.endpoint },
  });
  await assert.rejects(again, { code: "not_found" });
});

test("keys and subscriptions survive a restart, and a browser that subscribes again is one", async (t) => {
  const { service, started, open, publicKey, subscribe } = await start(t);
  const phone = await subscribe("phone");
  await started.stop();
  const next = await open();

  await next.request(subscribeRoute, {
    body: { subscription: phone.subscription, name: "my phone" },
  });
  await next.call(homeNotify, { message: "hello" });

  assert.deepEqual((await next.request(keyRoute)).json, { publicKey });
  assert.equal(phone.messages.length, 1);
  assert.equal(service.requests, 1);
});

test("a browser that has ended its subscription is forgotten, and the others get the message", async (t) => {
  const { subscribe, notify, list, started } = await start(t);
  const [gone, phone] = [await subscribe("old phone"), await subscribe("phone")];
  gone.unsubscribe();

  await notify("hello");

  assert.equal(phone.messages.length, 1);
  assert.deepEqual(
    (await list()).map(({ name }) => name),
    ["phone"],
  );
  assert.equal(started.degraded, undefined);
});

test("a subscription can be ended, and the list tells no endpoint", async (t) => {
  const { subscribe, list, notify, started, service } = await start(t);
  const phone = await subscribe("phone", "Anna");
  assert.deepEqual(
    (await list()).map((browser) => Object.keys(browser).toSorted()),
    [["id", "name", "person", "since"]],
  );

  await started.request(unsubscribeRoute, { params: { id: phone.id } });
  await notify("hello");

  assert.deepEqual(phone.messages, []);
  assert.equal(service.requests, 0);
  await assert.rejects(started.request(unsubscribeRoute, { params: { id: phone.id } }), {
    code: "not_found",
  });
});

test("a service that is overloaded or fails is asked again, and the module recovers", async (t) => {
  const { service, subscribe, notify, started } = await start(t);
  const phone = await subscribe("phone");
  service.failNext(503, 0, 429);
  await assert.rejects(notify("lost"), {
    code: "service_unavailable",
    message: /a message was not sent: 127\.0\.0\.1:\d+ answered 429$/,
  });
  const degraded = started.degraded;
  service.failNext(500);

  await notify("sent");

  assert.match(degraded ?? "", /429/);
  assert.equal(started.degraded, undefined);
  assert.deepEqual(phone.messages, [{ title: "Mantel", body: "sent" }]);
});

test("a refusal is an error at once, and its reason does not tell the browser's address", async (t) => {
  const { service, subscribe, notify } = await start(t);
  const { subscription } = await subscribe("phone");
  service.failNext(403);

  await assert.rejects(notify("lost"), (error: Error) => {
    assert.match(error.message, /answered 403$/);
    assert.ok(!error.message.includes(new URL(subscription.endpoint).pathname));
    return true;
  });

  assert.equal(service.requests, 1);
});

test("a long message is cut between characters and fits into what every service takes", async (t) => {
  const { subscribe, notify, service } = await start(t);
  const phone = await subscribe("phone");

  await notify(`x${"🚪".repeat(3_000)}`);

  assert.match((phone.messages[0] as { body: string }).body, /^x(🚪){749}…$/u);
  assert.deepEqual(service.refusals, []);
});

test("only known push services and those of the options are subscribed to", async (t) => {
  const { started, service, list } = await start(t);
  const { subscription } = service.subscribe("key");
  const subscribe = (endpoint: string) =>
    started.request(subscribeRoute, {
      body: { subscription: { ...subscription, endpoint }, name: "phone" },
    });
  for (const endpoint of [
    "https://fcm.googleapis.com.evil.example/x",
    "https://evil.example/?https://fcm.googleapis.com/x",
    "http://fcm.googleapis.com/x",
    "https://fcm.googleapis.com:444/x",
    "https://push.apple.com.evil.example/x",
    "http://127.0.0.1:1/x",
    "http://",
  ])
    await assert.rejects(subscribe(endpoint), { code: "invalid", message: /known push service/ });

  await subscribe("https://fcm.googleapis.com/fcm/send/abc");
  await subscribe("https://updates.push.services.mozilla.com/wpush/v2/abc");
  await subscribe("https://web.push.apple.com/abc");
  await subscribe("https://db5.notify.windows.com/w/abc");
  assert.equal((await list()).length, 4);
});

test("a hundred browsers get messages at most", async (t) => {
  const { subscribe, list } = await start(t);
  for (let at = 0; at < 100; at++) await subscribe(`phone ${at}`);

  await assert.rejects(subscribe("one more"), { message: /100 browsers get messages already/ });

  assert.equal((await list()).length, 100);
});
