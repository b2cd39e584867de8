import assert from "node:assert/strict";
import { test } from "node:test";
import { renewSubscription } from "../../../../host/dashboard/offline/messages.ts";

const options = { userVisibleOnly: true, applicationServerKey: new ArrayBuffer(65) };
const before = { endpoint: "https://push.example/before", options };
const next = (endpoint: string) =>
  ({
    toJSON: () => ({ endpoint, expirationTime: null, keys: { p256dh: "a", auth: "b" } }),
  }) as unknown as PushSubscription;

/** Renews a subscription; gives the requests to the home and the options with which the browser subscribed. */
async function renew(event: Parameters<typeof renewSubscription>[1]) {
  const sent: unknown[] = [];
  const subscribed: unknown[] = [];
  const subscriber = {
    subscribe: async (given: PushSubscriptionOptionsInit) => {
      subscribed.push(given);
      return next("https://push.example/own");
    },
  };
  const send = async (url: string, { method, body }: RequestInit = {}) => {
    if (url === "/api") return Response.json({ prefix: "/api/v2" });
    sent.push([method, url, JSON.parse(body as string)]);
    return Response.json({ id: "1" });
  };
  await renewSubscription(subscriber, event, send);
  return { sent, subscribed };
}

const told = (endpoint: string) => ({
  subscription: { endpoint, keys: { p256dh: "a", auth: "b" } },
  replaces: before.endpoint,
});

test("the home is told the subscription that the browser has made", async () => {
  const endpoint = "https://push.example/next";

  const { sent, subscribed } = await renew({
    oldSubscription: before,
    newSubscription: next(endpoint),
  });

  assert.deepEqual(sent, [["PUT", "/api/v2/push", told(endpoint)]]);
  assert.deepEqual(subscribed, []);
});

test("without a new subscription the worker subscribes with the key of before", async () => {
  const { sent, subscribed } = await renew({ oldSubscription: before, newSubscription: null });

  assert.deepEqual(sent, [["PUT", "/api/v2/push", told("https://push.example/own")]]);
  assert.deepEqual(subscribed, [options]);
});

test("without the subscription of before nothing is sent", async () => {
  assert.deepEqual((await renew({ newSubscription: next("https://push.example/a") })).sent, []);
});
