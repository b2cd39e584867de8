import type { TestContext } from "node:test";
import { startPlugin, type RunningTest } from "@mantel/plugin-sdk/testing";
import plugin from "../../../plugins/home-assistant/index.ts";
import { DOMAINS } from "../../../plugins/home-assistant/options.ts";
import { furnish } from "../../fakes/home-assistant-entities.ts";
import { FakeHomeAssistant } from "../../fakes/home-assistant.ts";
import { onTestEnd } from "../../helpers/on-test-end.ts";
import { until } from "../../helpers/until.ts";

/** A furnished Home Assistant, and the plugin at it; both end with the test. */
export async function startHome(t: TestContext) {
  const fake = await FakeHomeAssistant.start(t);
  furnish(fake);
  const config = { url: fake.url, token: fake.token, domains: [...DOMAINS] };
  const start = async (
    handedOver?: unknown,
  ): Promise<RunningTest & { end: () => Promise<unknown> }> => {
    const running = await startPlugin(plugin, { config, handedOver });
    let isStopped = false;
    const end = async () => (isStopped ? undefined : ((isStopped = true), await running.stop()));
    onTestEnd(t, async () => void (await end()));
    return Object.assign(running, { end });
  };
  const bridge = await start();
  await until(() => bridge.devices.has("reg-sofa"));
  return { fake, bridge, config, start };
}
