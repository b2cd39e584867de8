import assert from "node:assert/strict";
import { test } from "node:test";
import { definePlugin, mqttBroker, provide, Type } from "@mantel/plugin-sdk";
import { setUp, startPlugin, testOptions } from "@mantel/plugin-sdk/testing";

const paired = definePlugin({
  options: Type.Object({ address: Type.String(), port: Type.Integer({ default: 80 }) }),
  start: () => undefined,
  test: async ({ config, call }) =>
    `${await call(mqttBroker, {}).then(({ url }) => url)} ${config.address}:${config.port}`,
  setup: async (ctx) => {
    const form = Type.Object({ address: Type.String({ minLength: 3, default: "a.test" }) });
    const { address } = await ctx.ask({ title: "Address", form });
    ctx.show({ title: "Press the button" });
    return { address };
  },
});

test("the test of options runs with defaults and fakes of services", async () => {
  const services = [provide(mqttBroker, () => ({ url: "mqtt://a.test" }))];

  const sentence = await testOptions(paired, { config: { address: "b.test" }, services });

  assert.equal(sentence, "mqtt://a.test b.test:80");
  await assert.rejects(testOptions(paired), /the config is invalid: .*address/);
});

test("a setup gets the answers of the test, and shows its steps", async () => {
  const { options, steps } = await setUp(paired, { answers: [{ address: "b.test" }] });
  const byDefault = await setUp(paired, { answers: [() => ({})] });

  assert.deepEqual(options, { address: "b.test" });
  assert.deepEqual(byDefault.options, { address: "a.test" });
  assert.deepEqual(
    steps.map(({ title }) => title),
    ["Address", "Press the button"],
  );
  await assert.rejects(setUp(paired), /"Address" has no answer/);
  await assert.rejects(setUp(paired, { answers: [{ address: "b" }] }), /the answer to "Address"/);
});

test("searches of the network find what the test says, in plugins and in their trials", async () => {
  const lamp = {
    name: "Lamp",
    host: "lamp.local",
    addresses: ["192.168.1.7"],
    port: 80,
    txt: { id: "7" },
  };
  const plugin = definePlugin({
    async test({ discover }) {
      const [found] = await discover.mdns("_lamp._tcp", { forMs: 100 });
      return `found ${found?.name}`;
    },
    async start({ discover, log }) {
      log.info("found", { lamps: await discover.mdns("_lamp._tcp") });
      log.info("none", { devices: await discover.ssdp("ssdp:all") });
    },
  });
  const network = { mdns: { "_lamp._tcp": [lamp] } };

  const host = await startPlugin(plugin, { network });

  assert.deepEqual(
    host.logs.map(({ fields }) => fields),
    [{ lamps: [lamp] }, { devices: [] }],
  );
  assert.equal(await testOptions(plugin, { network }), "found Lamp");
  await host.stop();
});
