import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { Device } from "@mantel/plugin-sdk/device";
import { FakeZigbee2Mqtt, listedLamp } from "../../../test/fakes/zigbee2mqtt.ts";
import { type Mosquitto, startMosquitto } from "../../../test/helpers/mosquitto.ts";
import { openHome, type Served, serveHost } from "../house.ts";

const READY_WITHIN_MS = 60_000;
const ACL = ["user house", "topic readwrite zigbee2mqtt/#"];
const USER = { username: "house", password: "right horse" } as const;

/** A real host and broker, with a simulated Zigbee2MQTT of lamps that count what they say. */
export interface ZigbeeHouse {
  readonly served: Served;
  readonly broker: Mosquitto;
  readonly fake: FakeZigbee2Mqtt;
  readonly api: (path: string, init?: RequestInit) => Promise<Response>;
  readonly devices: () => Promise<readonly Device[]>;
  readonly close: () => Promise<void>;
}

/** Starts it all over a broker with passwords, ACL and TLS, and waits until every lamp is available. */
export async function openZigbeeHouse(lamps: number): Promise<ZigbeeHouse> {
  const endings: (() => unknown)[] = [];
  const broker = await startMosquitto(
    { after: (work) => void endings.push(work as () => unknown) },
    { users: { [USER.username]: USER.password }, acl: ACL, tls: true },
  );
  const ca = await readFile(broker.caFile, "utf8");
  const devices = Array.from({ length: lamps }, (_, at) => countingLamp(at + 1));
  const fake = new FakeZigbee2Mqtt(broker.url, {
    devices,
    groups: [],
    connection: { ...USER, ca },
  });
  const home = await openHome(["mqtt", "zigbee2mqtt"]);
  await mkdir(home.data, { recursive: true, mode: 0o700 });
  const mqtt = { url: broker.url, username: USER.username, ca };
  const config = { mqtt, zigbee2mqtt: { topic: fake.base } };
  await writeFile(join(home.data, "config.json"), JSON.stringify(config));
  const served = await serveHost(home);
  const house = { served, broker, fake, ...clientOf(served) };
  const password = { method: "PATCH", body: JSON.stringify({ mqtt: { password: USER.password } }) };
  const patched = await house.api("/config", password);
  if (!patched.ok) throw new Error(`${patched.status}: ${await patched.text()}`);
  const isUp = async () => (await house.devices()).filter(({ available }) => available).length;
  await within(READY_WITHIN_MS, async () => (await isUp()) === lamps);
  const close = async () => {
    await served.stop();
    await fake.stop();
    for (const end of endings) await end();
    await home.remove();
  };
  return { ...house, close };
}

function clientOf({ url, token }: Served): Pick<ZigbeeHouse, "api" | "devices"> {
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const api: ZigbeeHouse["api"] = (path, init = {}) =>
    fetch(`${url}/api/v1${path}`, { ...init, headers });
  return {
    api,
    async devices() {
      const response = await api("/smart-home/devices");
      return ((await response.json()) as { devices: Device[] }).devices;
    },
  };
}

/** Makes the bridge another generation, by an option that changes nothing, and waits until it works. */
export async function reloadBridge({ api, fake }: ZigbeeHouse): Promise<void> {
  const generation = async () => {
    const module = await (await api("/modules/zigbee2mqtt")).json();
    return (module as { generation: number }).generation;
  };
  const before = await generation();
  const body = JSON.stringify({ topic: fake.base, username: `nobody-${Date.now()}` });
  const response = await api("/modules/zigbee2mqtt/config", { method: "PATCH", body });
  if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`);
  await within(READY_WITHIN_MS, async () => (await generation()) > before);
}

/** Waits until something is so, and gives how long it took in milliseconds. */
export async function within(ms: number, isSo: () => Promise<boolean>): Promise<number> {
  const startedAt = performance.now();
  while (!(await isSo().catch(() => false))) {
    if (performance.now() - startedAt > ms) throw new Error(`not within ${ms} ms: ${String(isSo)}`);
    await delay(20);
  }
  return performance.now() - startedAt;
}

function countingLamp(at: number) {
  const lamp = listedLamp(at);
  const { exposes, ...definition } = lamp["definition"] as { exposes: object[] };
  const counter = { type: "numeric", name: "counter", property: "counter", access: 1 };
  return { ...lamp, definition: { ...definition, exposes: [...exposes, counter] } };
}

/** The last number that any storm has given: a state that says the same again is no event. */
let said = 0;

/** States that lamps publish at a steady rate, each with a number of its own, and when they arrive. */
export class StateStorm {
  readonly #sent = new Map<number, number>();
  /** The last number of each lamp, by name. */
  readonly #last = new Map<string, number>();
  readonly #waits: number[] = [];
  readonly #timer: NodeJS.Timeout;
  #count = 0;

  constructor(fake: FakeZigbee2Mqtt, perSecond: number) {
    const startedAt = performance.now();
    this.#timer = setInterval(() => {
      const due = ((performance.now() - startedAt) / 1_000) * perSecond;
      while (this.#count < due) {
        const lamp = fake.devices[this.#count % fake.devices.length];
        this.#count += 1;
        const counter = ++said;
        const name = lamp?.friendly_name ?? "";
        this.#sent.set(counter, performance.now());
        this.#last.set(name, counter);
        fake.tell(name, { state: "ON", brightness: counter % 255, counter });
      }
    }, 2);
  }

  /** A state has come out of the event stream. */
  arrived(counter: number): void {
    const sentAt = this.#sent.get(counter);
    if (sentAt === undefined) return;
    this.#sent.delete(counter);
    this.#waits.push(performance.now() - sentAt);
  }

  /** Ends it; `missed` are numbers that never came, which a later one of the same lamp may have replaced. */
  end() {
    clearInterval(this.#timer);
    return { sent: this.#count, missed: this.#sent.size, waits: this.#waits };
  }

  /** Lamps whose last word is not what the host has. */
  lost(devices: readonly Device[]): number {
    const known = new Map(devices.map(({ name, state }) => [name, state["counter"]]));
    return [...this.#last].filter(([name, counter]) => known.get(name) !== counter).length;
  }
}
