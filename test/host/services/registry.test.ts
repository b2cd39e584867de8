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

test("a service without a provider is reported as unavailable", async () => {
  const services = new ServiceRegistry();
  services.claim(provider("link", "mqtt.publish"));
  services.release("link");

  await assert.rejects(services.call("mqtt.publish", {}), { code: "service_unavailable" });
});

test("a service name has one owner, and a claim gets all of its names or none", async () => {
  const services = new ServiceRegistry();
  services.claim(provider("one", "mqtt.publish"));

  assert.throws(() => services.claim(provider("two", "broker.address", "mqtt.publish")), {
    code: "invalid",
    message: "two provides mqtt.publish, which one already provides; disable one of the two",
  });
  await assert.rejects(services.call("broker.address", {}), { code: "service_unavailable" });
});

test("a module can claim again with other names", async () => {
  const services = new ServiceRegistry();
  services.claim(provider("link", "mqtt.publish"));

  services.claim(provider("link", "broker.address"));

  await assert.rejects(services.call("mqtt.publish", {}), { code: "service_unavailable" });
  assert.ok(await services.call("broker.address", {}));
});
