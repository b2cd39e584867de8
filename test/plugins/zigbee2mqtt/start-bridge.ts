import type { TestContext } from "node:test";
import { mqttBroker, provide } from "@mantel/plugin-sdk";
import { type RunningTest, startPlugin } from "@mantel/plugin-sdk/testing";
import plugin from "../../../plugins/zigbee2mqtt/index.ts";
import { type FakeOptions, FakeZigbee2Mqtt } from "../../fakes/zigbee2mqtt.ts";
import { type Mosquitto, startMosquitto, withoutMosquitto } from "../../helpers/mosquitto.ts";
import { until } from "../../helpers/until.ts";

/** The options of a test that needs a real mosquitto. */
export const real = { skip: withoutMosquitto };

export interface StartedBridge extends RunningTest {
  /** Native ids of devices by their names. */
  readonly idOf: (name: string) => string;
}

/** A Zigbee2MQTT at a broker; it ends with the test. */
export function openFake(t: TestContext, url: string, options?: FakeOptions): FakeZigbee2Mqtt {
  const fake = new FakeZigbee2Mqtt(url, options);
  t.after(() => fake.stop());
  return fake;
}

interface StartOptions {
  readonly handedOver?: unknown;
  /** A folder that another start has used; absent means a new one. */
  readonly storage?: string;
  readonly topic?: string;
}

/** The plugin, started; it is stopped when the test ends, unless the test has done so. */
export async function startBridge(
  t: TestContext,
  url: string,
  { handedOver, storage, ...config }: StartOptions = {},
): Promise<StartedBridge> {
  const services = [provide(mqttBroker, () => ({ url }))];
  const started = await startPlugin(plugin, {
    services,
    config: { topic: "zigbee2mqtt", ...config },
    ...(handedOver === undefined ? {} : { handedOver }),
    ...(storage === undefined ? {} : { storage }),
  });
  let stopped: Promise<unknown> | undefined;
  const stop = () => (stopped ??= started.stop());
  t.after(stop);
  const bridge = Object.create(started, { stop: { value: stop } }) as RunningTest;
  const idOf = (name: string): string => {
    for (const { nativeId, name: known } of started.devices.values()) {
      if (known === name) return nativeId;
    }
    throw new Error(`no device is named ${name}`);
  };
  return Object.assign(bridge, { idOf });
}

/** A broker, a Zigbee2MQTT and the bridge, which has all devices of it. */
export async function openNetwork(t: TestContext, options: FakeOptions = {}) {
  const broker: Mosquitto = await startMosquitto(t);
  const fake = openFake(t, broker.url, options);
  const bridge = await startBridge(t, broker.url);
  const online = () => [...bridge.devices.values()].some(({ available }) => available);
  await until(() => bridge.devices.size >= fake.devices.length - 1 && online());
  return { broker, fake, bridge };
}
