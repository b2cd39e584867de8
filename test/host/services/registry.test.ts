import assert from "node:assert/strict";
import { test } from "node:test";
import { defineService, Type } from "@mantel/plugin-sdk";
import { RemoteFault } from "@mantel/plugin-sdk/rpc";
import { type Provider, ServiceRegistry } from "../../../host/services/registry.ts";

const provider = (id: string, ...provides: string[]): Provider => ({
  id,
  provides,
  definitions: () => [],
  callService: async ({ key, input }) => ({ id, key, input }),
});

test("a call reaches the module that provides the service", async () => {
  const services = new ServiceRegistry();
  services.claim(provider("link", "mqtt.publish"));

  const answer = await services.call("mqtt.publish", 7);

  assert.deepEqual(answer, { id: "link", key: "mqtt.publish", input: 7 });
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

/** A provider of a service that several may provide. */
const sharing = (id: string, answer: () => unknown): Provider => ({
  ...provider(id, "acme.chime.ring"),
  shares: ["acme.chime.ring"],
  callService: async () => answer(),
});
const ring = (...providers: readonly Provider[]) => {
  const services = new ServiceRegistry();
  for (const each of providers) services.claim(each);
  return services.callFor({ key: "acme.chime.ring", input: {}, chain: [] });
};
const failing = (id: string) =>
  sharing(id, () => {
    throw new RemoteFault({ name: "TypeError", message: "broken" });
  });

test("a call of a shared service reaches all providers, and lists are joined", async () => {
  const rung: string[] = [];
  const silent = (id: string) => sharing(id, () => void rung.push(id));

  assert.deepEqual(
    await ring(
      sharing("a", () => [1, 2]),
      sharing("b", () => [3]),
    ),
    [1, 2, 3],
  );
  assert.equal(
    await ring(
      sharing("a", () => "first"),
      sharing("b", () => "second"),
    ),
    "first",
  );
  assert.equal(await ring(silent("a"), silent("b")), undefined);
  assert.deepEqual(rung, ["a", "b"]);
});

test("a failing provider of a shared service keeps no other from answering, and is named if all fail", async () => {
  const rung: string[] = [];

  assert.deepEqual(
    await ring(
      failing("a"),
      sharing("b", () => [3]),
    ),
    [3],
  );
  await assert.rejects(
    ring(
      failing("a"),
      sharing("b", () => void rung.push("b")),
    ),
    {
      code: "service_unavailable",
      message: "acme.chime.ring of a failed; see the log of a",
    },
  );
  assert.deepEqual(rung, ["b"]);
});

test("a service is shared only by plugins that all share it", () => {
  const services = new ServiceRegistry();
  services.claim(sharing("a", () => []));

  assert.throws(() => services.claim(provider("b", "acme.chime.ring")), {
    message: "b provides acme.chime.ring, which a already provides; disable one of the two",
  });
  services.release("a");
  services.claim(provider("b", "acme.chime.ring"));
  assert.throws(() => services.claim(sharing("a", () => [])), /which b already provides/);
});

test("a module can claim again with other names", async () => {
  const services = new ServiceRegistry();
  services.claim(provider("link", "mqtt.publish"));

  services.claim(provider("link", "broker.address"));

  await assert.rejects(services.call("mqtt.publish", {}), { code: "service_unavailable" });
  assert.ok(await services.call("broker.address", {}));
});

test("two versions of a service have a provider each", async () => {
  const services = new ServiceRegistry();
  services.claim(provider("old", "acme.news.items@1"));
  services.claim(provider("new", "acme.news.items@2"));

  const answers = await Promise.all(
    ["acme.news.items", "acme.news.items@2"].map((key) => services.call(key, {})),
  );

  assert.deepEqual(
    answers.map((answer) => (answer as { id: string }).id),
    ["old", "new"],
  );
});

test("the error for a version that nothing provides names the versions that exist", async () => {
  const services = new ServiceRegistry();
  services.claim(provider("news", "acme.news.items", "acme.news.items@2", "acme.news.item"));

  await assert.rejects(services.call("acme.news.items@3", {}), {
    code: "service_unavailable",
    message:
      "no running module provides acme.news.items@3; there is acme.news.items, acme.news.items@2",
  });
});

test("a service call that would close a cycle reaches no module", async () => {
  const services = new ServiceRegistry();
  services.claim(provider("news", "acme.news.items"));
  const chain = ["acme.news.items", "acme.mail.send"];

  await assert.rejects(services.callFor({ key: "acme.news.items", input: {}, chain }), {
    code: "service_cycle",
  });
});

test("the open services are those with a scope for clients", () => {
  const services = new ServiceRegistry();
  const items = defineService("acme.news.items", { input: Type.Object({}), open: "read" });
  const secret = defineService("acme.news.secret", { input: Type.Object({}) });
  services.claim({
    ...provider("news", "acme.news.items", "acme.news.secret"),
    definitions: () => [secret, items],
  });

  assert.deepEqual(services.open(), [items]);
});

test("several modules provide a shared service, and each can be called", async () => {
  const services = new ServiceRegistry();
  services.claim(provider("feeds", "calendar.events"));
  services.claim(provider("office", "calendar.events"));

  const office = await services.callProvider("office", "calendar.events", 7, 1_000);

  assert.deepEqual(office, { id: "office", key: "calendar.events", input: 7 });
  services.release("office");
  await assert.rejects(services.callProvider("office", "calendar.events", 7, 1_000), {
    code: "service_unavailable",
  });
  assert.equal(services.findProvider("calendar.events"), "feeds");
});

test("a call of a merged service is answered by the merged answers", async () => {
  const services = new ServiceRegistry();
  services.claim(provider("feeds", "calendar.events"));
  services.merge("calendar.events", async (input: number) => input + 1);

  assert.equal(await services.call("calendar.events", 7), 8);
});

test("a shared service that several modules provide is open once", () => {
  const services = new ServiceRegistry();
  const change = defineService("calendar.change", { input: Type.Object({}), open: "edit" });
  for (const id of ["calendar", "other"]) {
    services.claim({ ...provider(id, "calendar.change"), definitions: () => [change] });
  }

  assert.deepEqual(services.open(), [change]);
  assert.equal(services.findOpen("calendar.change"), change);
});
