import assert from "node:assert/strict";
import { test } from "node:test";
import { brokerOf } from "../../../plugin-sdk/mqtt/broker.ts";

const asked: string[] = [];
const call = (async (name: string) => {
  asked.push(name);
  return { url: "mqtt://home" };
}) as unknown as Parameters<typeof brokerOf>[1];

test("the broker in the options is used, with what is set of its credentials", async () => {
  const all = { url: "mqtts://nas", username: "u", password: "p", ca: "PEM" };

  assert.deepEqual(await brokerOf(all, call)(), all);
  assert.deepEqual(await brokerOf({ url: "mqtt://nas" }, call)(), { url: "mqtt://nas" });
  assert.deepEqual(asked, []);
});

test("without an address the home's broker is used, with its own credentials", async () => {
  assert.deepEqual(await brokerOf({ username: "u" }, call)(), { url: "mqtt://home" });
  assert.deepEqual(asked, ["mqtt.broker"]);
});
