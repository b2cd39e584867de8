import type { TestContext } from "node:test";
import { startPlugin, type RunningTest } from "@mantel/plugin-sdk/testing";
import plugin from "../../../plugins/home-assistant/index.ts";
import { DOMAINS } from "../../../plugins/home-assistant/options.ts";
import { furnish } from "../../fakes/home-assistant-entities.ts";
import { FakeHomeAssistant } from "../../fakes/home-assistant.ts";
import { onTestEnd } from "../../helpers/on-test-end.ts";
import { until } from "../../helpers/until.ts";

/** A furnished Home Assistant, and the plugin at it; both end with the test. */
export async function startHome(t: TestContext, temperatureUnit = "°C") {
  const fake = await FakeHomeAssistant.start(t);
  furnish(fake);
  if (temperatureUnit === "°F") toFahrenheit(fake);
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

const TEMPERATURES = [
  ...["current_temperature", "temperature", "target_temp_low", "target_temp_high"],
  ...["min_temp", "max_temp"],
];

/** Shows the temperatures of thermostats and water heaters as a home in degrees Fahrenheit does. */
function toFahrenheit(fake: FakeHomeAssistant): void {
  fake.temperatureUnit = "°F";
  for (const [id, { attributes }] of fake.entities) {
    if (!/^(climate|water_heater)\./.test(id)) continue;
    const names = TEMPERATURES.filter((name) => typeof attributes[name] === "number");
    const converted = names.map((name) => [name, Number(attributes[name]) * 1.8 + 32] as const);
    fake.change(id, Object.fromEntries(converted));
  }
}
