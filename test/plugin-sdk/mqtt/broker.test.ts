import assert from "node:assert/strict";
import { test } from "node:test";
import { Type } from "typebox";
import { Check } from "typebox/value";
import { brokerOf, brokerOptions } from "../../../plugin-sdk/mqtt/broker.ts";

const asked: string[] = [];
const call = (async ({ name }: { name: string }) => {
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

for (const [options, isValid] of [
  [{}, true],
  [{ url: "mqtt://nas" }, true],
  [{ url: "mqtts://nas:8883" }, true],
  [{ url: "ws://nas/mqtt" }, true],
  [{ url: "wss://nas/mqtt" }, true],
  [{ url: "http://nas" }, false],
  [{ url: "mqtt://" }, false],
  [{ url: "x mqtt://nas" }, false],
  [{ url: "mqtt://nas nas" }, false],
  [{ url: "mqtt://user:secret@nas" }, false],
  [{ username: "" }, false],
  [{ password: "" }, false],
  [{ ca: "" }, false],
] as const) {
  test(`the options ${JSON.stringify(options)} are ${isValid ? "" : "not "}valid`, () => {
    assert.equal(Check(Type.Object(brokerOptions), options), isValid);
  });
}

test("a password is a secret, which the settings page never shows", () => {
  assert.equal(Reflect.get(brokerOptions.password, "writeOnly"), true);
});
