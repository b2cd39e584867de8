import type { TestContext } from "node:test";
import { topicMatcher } from "@mantel/plugin-sdk";
import { startPlugin } from "@mantel/plugin-sdk/testing";
import { connectAsync, type MqttClient } from "mqtt";
import plugin from "../../../plugins/ha-discovery/index.ts";
import { type Mosquitto, startMosquitto, withoutMosquitto } from "../../helpers/mosquitto.ts";
import { onTestEnd } from "../../helpers/on-test-end.ts";
import { until } from "../../helpers/until.ts";

/** The options of a test that needs a real mosquitto. */
export const real = { skip: withoutMosquitto };

/** A plug, as its components name it: a relay that leads, and a reading of it. */
export const PLUG = {
  ids: ["plug-1"],
  name: "Coffee",
  mf: "Maker",
  mdl: "P1",
  sw: "1.2",
  sa: "Kitchen",
};
export const RELAY = {
  stat_t: "plug/state",
  cmd_t: "plug/set",
  avty_t: "plug/status",
  uniq_id: "plug-1-relay",
  name: null,
  dev: PLUG,
};
export const POWER = {
  stat_t: "plug/power",
  dev_cla: "power",
  unit_of_meas: "W",
  avty_t: "plug/status",
  uniq_id: "plug-1-power",
  dev: PLUG,
};
export const PLUG_ID = "switch:plug-1-relay";

/** The default options, which a host would fill in. */
const DEFAULTS = {
  prefix: "homeassistant",
  tasmota: true,
  refusedTopics: ["zigbee2mqtt/bridge/request/#"],
};

/** The plugin, connected to a broker; it is stopped when the test ends. */
export async function startBridge(t: TestContext, url: string, options: object = {}) {
  const { handedOver, storage, ...config } = options as {
    handedOver?: unknown;
    storage?: string;
  };
  const bridge = await startPlugin(plugin, {
    config: { ...DEFAULTS, url, ...config },
    timeZone: "Europe/Berlin",
    ...(handedOver === undefined ? {} : { handedOver }),
    ...(storage === undefined ? {} : { storage }),
  });
  let stopped: Promise<unknown> | undefined;
  const stop = () => (stopped ??= bridge.stop());
  onTestEnd(t, async () => void (await stop()));
  return Object.assign(Object.create(bridge) as typeof bridge, {
    stop,
    /** The device, once it is there. */
    device: (nativeId: string) => until(() => bridge.devices.get(nativeId)),
  });
}

/** A client of a broker, which plays devices; it ends with the test. */
export async function openPeer(t: TestContext, url: string, options: object = {}) {
  const client = await connectAsync(url, { reconnectPeriod: 0, ...options });
  onTestEnd(t, () => client.endAsync(true));
  return new Peer(client);
}

/** Plays devices on a broker: announces them, tells their states, hears their commands. */
export class Peer {
  readonly heard: { readonly topic: string; readonly payload: string }[] = [];
  readonly #client: MqttClient;

  constructor(client: MqttClient) {
    this.#client = client.setMaxListeners(100);
    client.on("message", (topic, payload) => {
      this.heard.push({ topic, payload: payload.toString() });
    });
  }

  async announce(topic: string, config: object | string, retain = true): Promise<void> {
    const payload = typeof config === "string" ? config : JSON.stringify(config);
    await this.#client.publishAsync(`homeassistant/${topic}/config`, payload, { qos: 1, retain });
  }

  async tell(topic: string, state: object | string, retain = false): Promise<void> {
    const isText = typeof state === "string" || Buffer.isBuffer(state);
    const payload = isText ? state : JSON.stringify(state);
    await this.#client.publishAsync(topic, payload, { qos: 1, retain });
  }

  async listen(filter: string): Promise<void> {
    await this.#client.subscribeAsync(filter);
  }

  /** Hears each message that matches a filter. */
  async hear(filter: string, heard: (payload: string, topic: string) => void): Promise<void> {
    const matches = topicMatcher(filter);
    this.#client.on("message", (topic, payload) => {
      if (matches(topic)) heard(payload.toString(), topic);
    });
    await this.listen(filter);
  }

  /** Answers each message on a topic, as a device does. */
  async obey(filter: string, answer: (payload: string, topic: string) => void): Promise<void> {
    this.#client.on("message", (topic, payload) => {
      if (topic === filter) answer(payload.toString(), topic);
    });
    await this.listen(filter);
  }
}

/** A broker, the plugin and somebody who plays devices. */
export async function startHome(t: TestContext, options: object = {}) {
  const broker: Mosquitto = await startMosquitto(t);
  const peer = await openPeer(t, broker.url);
  const bridge = await startBridge(t, broker.url, options);
  return { broker, peer, bridge };
}
