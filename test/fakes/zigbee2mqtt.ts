import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { connect, type IClientOptions, type MqttClient } from "mqtt";

const FIXTURES = join(import.meta.dirname, "../fixtures/zigbee2mqtt");

type Payload = Record<string, unknown>;

interface Scene {
  readonly id: number;
  readonly name: string;
}

/** A device as `bridge/devices` lists it. */
export interface ListedDevice {
  readonly ieee_address: string;
  friendly_name: string;
  readonly [field: string]: unknown;
}

interface ListedGroup {
  readonly id: number;
  friendly_name: string;
  readonly members: readonly { readonly ieee_address: string; readonly endpoint: number }[];
  readonly scenes: readonly Scene[];
}

export interface FakeOptions {
  readonly base?: string;
  readonly devices?: readonly ListedDevice[];
  readonly groups?: readonly ListedGroup[];
  readonly connection?: IClientOptions;
  /** Milliseconds until a device has done what it was told. */
  readonly answerMs?: number;
  /** Milliseconds between `online` and the lists. What is set before them is lost. */
  readonly startMs?: number;
}

/** The devices and groups of a real network. */
function recordedDevices(): ListedDevice[] {
  return JSON.parse(readFileSync(join(FIXTURES, "bridge-devices.json"), "utf8")) as ListedDevice[];
}

function recordedGroups(): ListedGroup[] {
  return JSON.parse(readFileSync(join(FIXTURES, "bridge-groups.json"), "utf8")) as ListedGroup[];
}

const INFO = {
  version: "2.14.0",
  log_level: "info",
  permit_join: false,
  restart_required: false,
  os: { version: "Linux", node_version: "v22.2.0", cpus: "Cortex-A72 (x4)", memory_mb: 3_794 },
  mqtt: { version: 4, server: "mqtt://127.0.0.1:1883" },
  zigbee_herdsman_converters: { version: "0.0.0" },
  zigbee_herdsman: { version: "0.0.0" },
  coordinator: { ieee_address: "0x00124b00120144ae", type: "zStack3x0", meta: {} },
  network: { pan_id: 6_754, extended_pan_id: "0xdddddddddddddddd", channel: 11 },
  config: { advanced: { output: "json" } },
  config_schema: {},
};

/** A dimmable lamp, as Zigbee2MQTT lists one. */
export function listedLamp(at: number, friendly_name = `lamp ${at}`): ListedDevice {
  const feature = (name: string, rest: object) => ({ name, property: name, access: 7, ...rest });
  const features = [
    feature("state", { type: "binary", value_on: "ON", value_off: "OFF", value_toggle: "TOGGLE" }),
    feature("brightness", { type: "numeric", value_min: 0, value_max: 254 }),
  ];
  return {
    ieee_address: `0x${at.toString(16).padStart(16, "0")}`,
    friendly_name,
    type: "Router",
    supported: true,
    disabled: false,
    power_source: "Mains (single phase)",
    interviewing: false,
    interview_completed: true,
    interview_state: "SUCCESSFUL",
    network_address: at,
    endpoints: {},
    software_build_id: "1.0.0",
    definition: {
      source: "native",
      vendor: "Example",
      model: "L1",
      description: "Lamp",
      exposes: [{ type: "light", features }],
      options: [],
      supports_ota: false,
      version: "0.0.0",
    },
  };
}

/** The state of a device after a command: a cover that opens is at 100 %, and a light has the requested colour. */
function followed(payload: Payload): Payload {
  const { state, position, color, color_temp, fan_mode, ...rest } = payload;
  const isOpening = state === "OPEN" || state === "CLOSE";
  return {
    ...rest,
    ...(state === undefined || state === "STOP" ? {} : { state }),
    ...(isOpening ? { position: state === "OPEN" ? 100 : 0 } : {}),
    ...(position === undefined ? {} : { position, state: position === 0 ? "CLOSE" : "OPEN" }),
    ...(state === "LOCK" || state === "UNLOCK" ? { lock_state: `${state.toLowerCase()}ed` } : {}),
    ...(color === undefined ? {} : { color, color_mode: "xy" }),
    ...(color_temp === undefined ? {} : { color_temp, color_mode: "color_temp" }),
    ...(fan_mode === undefined ? {} : { fan_mode, fan_state: fan_mode === "off" ? "OFF" : "ON" }),
  };
}

/** Fields of a device that are never reported. */
function untoldIn(device: ListedDevice | undefined): Set<string> {
  const { exposes = [] } = (device?.["definition"] ?? {}) as { exposes?: readonly Payload[] };
  const untold = exposes.filter(({ access }) => typeof access === "number" && (access & 1) === 0);
  return new Set(untold.map(({ name, property = name }) => String(property)));
}

/**
 * Speaks like Zigbee2MQTT 2.14 through a real broker: retained lists and availability, states that are
 * not retained, `set` and `get`, faults on `bridge/logging` alone, a last will, and everything retained
 * again on each new connection.
 */
export class FakeZigbee2Mqtt {
  readonly base: string;
  readonly url: string;
  /** The received commands, oldest first. */
  readonly received: { readonly name: string; readonly payload: Payload }[] = [];
  /** The requested states, by name. */
  readonly asked: string[] = [];
  /** Names whose radio does not answer. */
  readonly unreachable = new Set<string>();
  /** If true, devices first report their previous state once more. */
  repeatsFirst = false;
  /** Never answers anything while it is true. */
  isMute = false;
  /** Names of devices that repeat what they were instead of following a command. */
  readonly #stalled = new Map<string, Payload[]>();
  /** Devices take commands and do not report what they became while it is true. */
  isSilent = false;
  devices: ListedDevice[];
  groups: ListedGroup[];
  readonly #states = new Map<string, Payload>();
  readonly #availability = new Map<string, "online" | "offline">();
  readonly #answerMs: number;
  readonly #startMs: number;
  #isStarted = false;
  readonly #client: MqttClient;

  constructor(url: string, options: FakeOptions = {}) {
    const {
      base = "zigbee2mqtt",
      devices = recordedDevices(),
      groups = recordedGroups(),
    } = options;
    this.base = base;
    this.url = url;
    this.devices = [...devices];
    this.groups = [...groups];
    this.#answerMs = options.answerMs ?? 5;
    this.#startMs = options.startMs ?? 0;
    const payload = Buffer.from(JSON.stringify({ state: "offline" }));
    this.#client = connect(url, {
      reconnectPeriod: 500,
      protocolVersion: 4,
      ...options.connection,
      will: { topic: `${base}/bridge/state`, payload, qos: 1, retain: true },
    });
    this.#client.on("connect", () => void this.#announce());
    this.#client.on("error", () => undefined);
    this.#client.on("message", (topic, message) => this.#take(topic, message));
  }

  /** Of all devices, in their order. */
  get names(): string[] {
    return this.devices.map(({ friendly_name }) => friendly_name);
  }

  /** A real one subscribes, and publishes all that is retained, whenever it is connected. */
  async #announce(): Promise<void> {
    const all = [`${this.base}/+/set`, `${this.base}/+/get`, `${this.base}/#`];
    await this.#client.subscribeAsync(all.slice(2), { qos: 0 });
    this.publish("bridge/state", { state: "online" }, true);
    if (this.#startMs > 0) await delay(this.#startMs);
    this.publish("bridge/info", INFO, true);
    this.list();
    for (const { friendly_name } of this.devices) {
      const state = this.#availability.get(friendly_name) ?? "online";
      this.publish(`${friendly_name}/availability`, { state }, true);
    }
    this.#isStarted = true;
  }

  list(): void {
    this.publish("bridge/devices", this.devices, true);
    this.publish("bridge/groups", this.groups, true);
  }

  publish(topic: string, payload: unknown, retain = false): void {
    const text = typeof payload === "string" ? payload : JSON.stringify(payload);
    this.#client.publish(`${this.base}/${topic}`, text, { retain, qos: 0 });
  }

  /** A device has become something that nobody was told of. */
  become(name: string, news: Payload): void {
    this.#states.set(name, { ...this.#states.get(name), ...news });
  }

  /** A device has said something: it is published with all that is known of it. */
  tell(name: string, news: Payload): void {
    const state = { ...this.#states.get(name), ...news };
    const { action: _, ...kept } = state;
    this.#states.set(name, kept);
    this.publish(name, state);
  }

  /** A device repeats what it was until the returned function is called; then it is as it was told meanwhile. */
  stall(name: string): () => void {
    const missed: Payload[] = [];
    this.#stalled.set(name, missed);
    return () => {
      this.#stalled.delete(name);
      for (const payload of missed) this.#become(name, payload);
    };
  }

  setAvailability(name: string, state: "online" | "offline"): void {
    this.#availability.set(name, state);
    this.publish(`${name}/availability`, { state }, true);
  }

  join(device: ListedDevice): void {
    this.devices.push(device);
    this.#report("device_joined", device);
    this.list();
    this.setAvailability(device.friendly_name, "online");
  }

  leave(name: string): void {
    const device = this.devices.find(({ friendly_name }) => friendly_name === name);
    if (device) this.#report("device_leave", device);
    this.devices = this.devices.filter(({ friendly_name }) => friendly_name !== name);
    this.publish(name, "", true);
    this.publish(`${name}/availability`, "", true);
    this.list();
  }

  /** Empties the retained messages of the old name. */
  rename(from: string, to: string): void {
    const device = this.devices.find(({ friendly_name }) => friendly_name === from);
    if (!device) throw new Error(`there is no ${from}`);
    device.friendly_name = to;
    this.#states.set(to, this.#states.get(from) ?? {});
    this.publish(from, "", true);
    this.publish(`${from}/availability`, "", true);
    this.list();
    this.setAvailability(to, "online");
  }

  #report(type: string, { friendly_name, ieee_address }: ListedDevice): void {
    this.publish("bridge/event", { type, data: { friendly_name, ieee_address } });
  }

  /** Ends like a process that is killed: the broker publishes its last will. */
  async kill(): Promise<void> {
    this.#client.options.reconnectPeriod = 0;
    this.#client.stream.destroy();
    await this.#client.endAsync(true);
  }

  async stop(): Promise<void> {
    if (this.#client.connected) {
      const offline = JSON.stringify({ state: "offline" });
      await this.#client.publishAsync(`${this.base}/bridge/state`, offline, { retain: true });
    }
    await this.#client.endAsync(true);
  }

  #take(topic: string, message: Buffer): void {
    const [, rest, verb] = /^(.*)\/(set|get)$/s.exec(topic.slice(this.base.length + 1)) ?? [];
    if (rest === undefined || this.isMute || !this.#isStarted) return;
    const payload = JSON.parse(message.toString()) as Payload;
    if (verb === "get") return this.#get(rest);
    this.received.push({ name: rest, payload });
    void this.#set(rest, payload);
  }

  #get(name: string): void {
    this.asked.push(name);
    if (!this.unreachable.has(name) && this.#states.has(name)) this.tell(name, {});
  }

  async #set(name: string, { scene_recall, ...payload }: Payload): Promise<void> {
    const known = [...this.devices, ...this.groups].some((each) => each.friendly_name === name);
    if (!known) return this.#complain(`Entity '${name}' is unknown`);
    const key = Object.keys(payload)[0] ?? "scene_recall";
    const failed = `Publish 'set' '${key}' to '${name}' failed`;
    if (this.unreachable.has(name)) {
      await delay(this.#answerMs);
      return this.#complain(`${failed}: 'Error: ZCL command 0x0 timed out after 10000ms'`);
    }
    const { brightness } = payload;
    if (typeof brightness === "number" && (brightness < 0 || brightness > 254)) {
      return this.#complain(`${failed}: 'Error: brightness value must be between 0 and 254'`);
    }
    if (scene_recall !== undefined || this.isSilent) return;
    const missed = this.#stalled.get(name);
    if (missed) {
      missed.push(payload);
      return this.tell(name, {});
    }
    if (this.repeatsFirst) this.tell(name, {});
    await delay(this.#answerMs);
    this.#become(name, payload);
  }

  /** A device, or all members of a group, follow a command. Values that are only set are never reported. */
  #become(name: string, payload: Payload): void {
    const device = this.devices.find((each) => each.friendly_name === name);
    const untold = untoldIn(device);
    const told = Object.entries(followed(payload)).filter(([key]) => !untold.has(key));
    if (told.length > 0) this.tell(name, Object.fromEntries(told));
    const group = this.groups.find((each) => each.friendly_name === name);
    for (const { ieee_address } of group?.members ?? []) {
      const member = this.devices.find((each) => each.ieee_address === ieee_address);
      if (member) this.#become(member.friendly_name, payload);
    }
  }

  #complain(message: string): void {
    this.publish("bridge/logging", {
      level: "error",
      message: `z2m: ${message}`,
      namespace: "z2m",
    });
  }
}
