import assert from "node:assert/strict";
import { test } from "node:test";
import type { Cause } from "@mantel/plugin-sdk/cause";
import { MantelError } from "@mantel/plugin-sdk/errors";
import { homeNotify } from "@mantel/plugin-sdk/services";
import type { ApiEvents } from "../../../host/api/events.ts";
import { Bus } from "../../../host/events/bus.ts";
import { notify } from "../../../host/home/notifications.ts";
import { ServiceRegistry } from "../../../host/services/registry.ts";

function openHome(messengers: Readonly<Record<string, () => Promise<void>>> = {}) {
  const bus = new Bus();
  const services = new ServiceRegistry();
  const sent: unknown[] = [];
  for (const [id, send] of Object.entries(messengers)) {
    services.claim({
      id,
      provides: ["home.notify"],
      definitions: () => [homeNotify],
      callService: async ({ input }) => {
        sent.push([id, input]);
        await send();
      },
    });
  }
  services.merge("home.notify", (input: unknown, cause) => notify({ bus, services }, input, cause));
  const shown: ApiEvents["notification"][] = [];
  bus.on(({ topic, data }) => topic === "notification" && shown.push(data));
  const call = (input: unknown, cause?: Cause) =>
    services.callFor({ key: "home.notify", input, chain: [] }, cause);
  return { call, sent, shown };
}

test("dashboards show a message although no plugin sends it on", async () => {
  const { call, shown } = openHome();

  await call({ message: "The washing is done" });

  const [first] = shown;
  assert.equal(shown.length, 1);
  assert.equal(first?.message, "The washing is done");
  assert.deepEqual(first.to, []);
  assert.ok(!Number.isNaN(Date.parse(first.at)));
});

test("a message names the plugin that sent it, and what in it did", async () => {
  const { call, shown } = openHome();
  const cause = { kind: "module", id: "washer", name: "Washing" } as const;

  await call({ message: "The washing is done" }, cause);

  await call({ message: "The door is open", from: "Evening" }, cause);

  assert.deepEqual([shown[0]?.cause, shown[0]?.from], [cause, undefined]);
  assert.deepEqual([shown[1]?.cause, shown[1]?.from], [cause, "Evening"]);
});

test("every plugin that sends messages on gets it, and a failure of one is the answer", async () => {
  const broken = async () => {
    throw new MantelError("service_unavailable", "the mail server is away");
  };
  const { call, sent, shown } = openHome({ mail: broken, phone: async () => undefined });
  const message = { message: "Water!", to: ["Anna"] };

  await assert.rejects(call(message), { message: "the mail server is away" });

  assert.deepEqual(sent, [
    ["mail", message],
    ["phone", message],
  ]);
  assert.deepEqual(shown[0]?.to, ["Anna"]);
});

test("a message that is too long, or not a text, is refused and not shown", async () => {
  const { call, shown } = openHome();

  await assert.rejects(call({ message: "x".repeat(10_001) }), { code: "invalid" });
  await assert.rejects(call({ message: 7 }), { code: "invalid" });
  assert.deepEqual(shown, []);
});
