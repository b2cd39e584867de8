import assert from "node:assert/strict";
import { test } from "node:test";
import { defineService, provide, ServiceError, Type } from "@mantel/plugin-sdk";
import { serviceKey } from "@mantel/plugin-sdk/service";
import { LAMP, startRunner } from "./runtime/start-runner.ts";

const Nothing = Type.Object({});
const echo = defineService("acme.echo", { input: Type.String(), output: Type.String() });
const twice = defineService("acme.echo", { version: 2, input: Nothing });

test("a service has a key with its version, which is 1 unless said", () => {
  assert.deepEqual([serviceKey(echo), serviceKey(twice)], ["acme.echo", "acme.echo@2"]);
});

for (const [name, options] of [
  ["echo", {}],
  ["Acme.Echo", {}],
  ["acme..echo", {}],
  [`acme.${"x".repeat(96)}`, {}],
  ["acme.echo", { version: 0 }],
  ["acme.echo", { version: 1.5 }],
  ["acme.echo", { deadlineMs: 60_001 }],
  ["acme.echo", { errors: { "not found": "x" } }],
] as const) {
  test(`the definition ${name.slice(0, 12)} with ${JSON.stringify(options)} is refused`, () => {
    assert.throws(() => defineService(name, { input: Nothing, ...options }), { code: "invalid" });
  });
}

test("a start reports the definitions of its services", async (t) => {
  const { started } = await startRunner(t, () => ({
    services: [provide(echo, (text) => text), provide(twice, () => undefined)],
  }));

  assert.deepEqual((await started).services, [echo, twice]);
});

for (const [what, services, said] of [
  [
    "by name, as in earlier versions",
    { "mqtt.publish": () => undefined },
    '"services: { "mqtt.publish": handler }" is now "services: [provide(mqttPublish, handler)]"',
  ],
  ["that are not provided", [echo], /not a result of provide/],
  ["twice", [provide(echo, (text) => text), provide(echo, (text) => text)], /has acme\.echo twice/],
] as const) {
  test(`a start that returns services ${what} fails`, async (t) => {
    const { started } = await startRunner(t, () => ({ services: services as never }));

    await assert.rejects(started, { name: "TypeError", message: said });
  });
}

test("a call within a service says in which services it is made", async (t) => {
  const { runner, said, started } = await startRunner(
    t,
    ({ call }) => ({
      command: async () => void (await call(echo, "outside")),
      services: [
        provide(twice, async () => {
          await new Promise(setImmediate);
          await call(echo, "inside");
        }),
      ],
    }),
    { uses: ["acme.echo"] },
  );
  await started;

  const chain = ["acme.first"];
  await Promise.all([
    runner.callService({ name: "acme.echo@2", input: {}, chain }),
    runner.command(LAMP),
  ]);

  const inside = { name: "acme.echo", input: "inside", chain: ["acme.first", "acme.echo@2"] };
  assert.deepEqual(
    said.map(([, input]) => input),
    [{ name: "acme.echo", input: "outside" }, inside],
  );
});

test("a call by name, as in earlier versions, fails with the new word", async (t) => {
  const { started } = await startRunner(t, async ({ call }) => {
    await call("mqtt.publish" as never, {} as never);
  });

  await assert.rejects(started, {
    name: "TypeError",
    message:
      'ctx.call("mqtt.publish", …) is now ctx.call(mqttPublish, …): import { mqttPublish } from "@mantel/plugin-sdk"',
  });
});

test("a service's own error has the name of the service", () => {
  const feeds = defineService("acme.feeds", {
    input: Nothing,
    errors: { feed_unknown: "no feed has this name" },
  });

  const { name, code, service, message } = new ServiceError(feeds, "feed_unknown", "no feed x");

  assert.deepEqual(
    [name, code, service, message],
    ["ServiceError", "feed_unknown", "acme.feeds", "no feed x"],
  );
});
