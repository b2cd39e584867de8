import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { createServer } from "node:https";
import { test } from "node:test";
import { startPlugin } from "@mantel/plugin-sdk/testing";
import plugin from "../../../plugins/home-assistant/index.ts";
import { DOMAINS } from "../../../plugins/home-assistant/options.ts";
import { furnish } from "../../fakes/home-assistant-entities.ts";
import { FakeHomeAssistant } from "../../fakes/home-assistant.ts";
import { onTestEnd } from "../../helpers/on-test-end.ts";
import { until } from "../../helpers/until.ts";
import { writtenPair } from "../../host/http/tls-pair.ts";

test("a certificate is verified with the configured authority", async (t) => {
  const [own, other] = [await writtenPair(t), await writtenPair(t)];
  const [cert, key] = [await readFile(own.cert), await readFile(own.key)];
  const fake = await FakeHomeAssistant.start(t, (answer) => createServer({ cert, key }, answer));
  furnish(fake);
  const start = async (ca?: string) => {
    const address = { url: fake.url, token: fake.token, domains: [...DOMAINS] };
    const bridge = await startPlugin(plugin, { config: { ...address, ...(ca ? { ca } : {}) } });
    onTestEnd(t, async () => void (await bridge.stop()));
    return bridge;
  };

  const trusting = await start(own.ca);
  const [without, wrong] = [await start(), await start(other.ca)];

  await until(() => trusting.devices.has("reg-sofa"));
  for (const bridge of [without, wrong]) {
    await until(() => bridge.degraded);
    assert.match(bridge.degraded ?? "", /its certificate is not trusted; give it under ca/);
    assert.equal(bridge.devices.size, 0);
  }
});
