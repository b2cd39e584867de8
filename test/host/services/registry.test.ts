import assert from "node:assert/strict";
import { test } from "node:test";
import { type Provider, ServiceRegistry } from "../../../host/services/registry.ts";

const provider = (id: string, ...provides: string[]): Provider => ({
  id,
  provides,
  callService: async (name, input) => ({ id, name, input }),
});

test("a call reaches the module that provides the service", async () => {
  const services = new ServiceRegistry();
  services.claim(provider("link", "mqtt.publish"));

  const answer = await services.call("mqtt.publish", 7);

  assert.deepEqual(answer, { id: "link", name: "mqtt.publish", input: 7 });
});

test("a service that nothing provides is said to be so", async () => {
  const services = new ServiceRegistry();
  services.claim(provider("link", "mqtt.publish"));
  services.release("link");

  await assert.rejects(services.call("mqtt.publish", {}), { code: "service_unavailable" });
});

test("a name has one holder, and a claim takes all its names or none", async () => {
  const services = new ServiceRegistry();
  services.claim(provider("one", "mqtt.publish"));

  assert.throws(() => services.claim(provider("two", "broker.address", "mqtt.publish")), {
    code: "invalid",
    message: "two provides mqtt.publish, which one provides already; disable one of the two",
  });
  await assert.rejects(services.call("broker.address", {}), { code: "service_unavailable" });
});

test("a module may claim again with other names", async () => {
  const services = new ServiceRegistry();
  services.claim(provider("link", "mqtt.publish"));

  services.claim(provider("link", "broker.address"));

  await assert.rejects(services.call("mqtt.publish", {}), { code: "service_unavailable" });
  assert.ok(await services.call("broker.address", {}));
});
