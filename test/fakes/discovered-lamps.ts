import { setTimeout as delay } from "node:timers/promises";
import { connect, type IClientOptions, type MqttClient } from "mqtt";

type Payload = Record<string, unknown>;

const PREFIX = "homeassistant";
const BASE = "lamps";
/** Milliseconds until a lamp has done what it was told. */
const ANSWER_MS = 5;

/**
 * Lamps that announce themselves by Home Assistant's MQTT discovery through a real broker, each as a light and a
 * number called `counter`, which share their topics. As ESPHome does, all of them announce themselves, retained, on
 * each new connection, say how they are then and whenever Home Assistant is born, and have one last will.
 */
export class DiscoveredLamps {
  readonly names: readonly string[];
  /** The commands they received, oldest first. */
  readonly received: { readonly name: string; readonly payload: Payload }[] = [];
  readonly #states = new Map<string, Payload>();
  readonly #client: MqttClient;

  constructor(url: string, count: number, connection: IClientOptions = {}) {
    this.names = Array.from({ length: count }, (_, at) => `thing ${at + 1}`);
    this.#client = connect(url, {
      reconnectPeriod: 500,
      protocolVersion: 4,
      ...connection,
      will: { topic: `${BASE}/status`, payload: Buffer.from("offline"), qos: 1, retain: true },
    });
    this.#client.on("connect", () => void this.#announce());
    this.#client.on("error", () => undefined);
    this.#client.on("message", (topic, message) => this.#take(topic, message.toString()));
  }

  /** A lamp has become something that nobody was told of. */
  become(name: string, news: Payload): void {
    this.#states.set(name, { ...this.#states.get(name), ...news });
  }

  /** A lamp has said something: it is published with all that is known of it. */
  tell(name: string, news: Payload): void {
    this.become(name, news);
    this.#publish(`${BASE}/${name}`, JSON.stringify(this.#states.get(name)), false);
  }

  async stop(): Promise<void> {
    await this.#client.endAsync(true);
  }

  async #announce(): Promise<void> {
    await this.#client.subscribeAsync([`${BASE}/+/set`, `${PREFIX}/status`], { qos: 0 });
    for (const [at, name] of this.names.entries()) {
      for (const [platform, config] of Object.entries(announcementsOf(name))) {
        this.#publish(`${PREFIX}/${platform}/lamp${at}/config`, JSON.stringify(config), true);
      }
    }
    this.#publish(`${BASE}/status`, "online", true);
    this.#tellAll();
  }

  #take(topic: string, message: string): void {
    if (topic === `${PREFIX}/status`) return this.#tellAll();
    const name = topic.slice(BASE.length + 1, -"/set".length);
    const payload = JSON.parse(message) as Payload;
    this.received.push({ name, payload });
    void delay(ANSWER_MS).then(() => this.tell(name, payload));
  }

  #tellAll(): void {
    for (const name of this.#states.keys()) this.tell(name, {});
  }

  #publish(topic: string, text: string, retain: boolean): void {
    this.#client.publish(topic, text, { retain, qos: 0 });
  }
}

function announcementsOf(name: string): Record<string, Payload> {
  const common = {
    stat_t: `${BASE}/${name}`,
    cmd_t: `${BASE}/${name}/set`,
    avty_t: `${BASE}/status`,
    dev: { ids: name, name },
  };
  return {
    light: {
      ...common,
      uniq_id: name,
      name: null,
      schema: "json",
      brightness: true,
      bri_scl: 254,
    },
    number: {
      ...common,
      uniq_id: `${name} counter`,
      name: "counter",
      min: 0,
      max: 1e9,
      val_tpl: "{{ value_json.counter }}",
      cmd_tpl: '{"counter": {{ value }}}',
    },
  };
}
