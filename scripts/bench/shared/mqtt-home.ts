import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { Device } from "@mantel/plugin-sdk/device";
import type { ModuleView } from "../../../host/api/module.ts";
import { DiscoveredLamps } from "../../../test/fakes/discovered-lamps.ts";
import { FakeZigbee2Mqtt, listedLamp } from "../../../test/fakes/zigbee2mqtt.ts";
import { type Mosquitto, startMosquitto } from "../../../test/helpers/mosquitto.ts";
import { openHome, type Served, serveHost } from "../bench-home.ts";

const READY_WITHIN_MS = 60_000;
const USER = { username: "home", password: "right horse" } as const;
const ACL = [
  `user ${USER.username}`,
  ...["zigbee2mqtt/#", "homeassistant/#", "lamps/#"].map((topic) => `topic readwrite ${topic}`),
];

/** The ids of the bridge modules of the simulated home. */
export const BRIDGES = ["zigbee2mqtt", "ha-discovery"] as const;
export type BridgeId = (typeof BRIDGES)[number];

/** The number of lamps per bridge; absent means none. */
export type LampCounts = Partial<Record<BridgeId, number>>;

/** The answer to a command. */
export interface Answer {
  readonly status: number;
  /** The header Retry-After, in seconds. */
  readonly retryAfter: string | null;
  readonly retryAfterMs: number | undefined;
}

/** A real host and broker with simulated lamps on two bridges. The lamps count their states and have unique names. */
export interface MqttHome {
  readonly served: Served;
  readonly broker: Mosquitto;
  readonly lamps: {
    readonly zigbee2mqtt: FakeZigbee2Mqtt;
    readonly "ha-discovery": DiscoveredLamps;
  };
  readonly api: (path: string, init?: RequestInit) => Promise<Response>;
  /** The devices of one bridge or of both. */
  readonly devices: (bridge?: BridgeId) => Promise<readonly Device[]>;
  readonly command: (id: string, body: object) => Promise<Answer>;
  readonly close: () => Promise<void>;
}

/** Starts everything with a broker that has passwords, ACL and TLS, and waits until every lamp is available. */
export async function openMqttHome(counts: LampCounts): Promise<MqttHome> {
  const endings: (() => unknown)[] = [];
  const broker = await startMosquitto(
    { after: (work) => void endings.push(work as () => unknown) },
    { users: { [USER.username]: USER.password }, acl: ACL, tls: true },
  );
  const ca = await readFile(broker.caFile, "utf8");
  const connection = { ...USER, ca };
  const zigbees = Array.from({ length: counts.zigbee2mqtt ?? 0 }, (_, at) => countingLamp(at + 1));
  const lamps = {
    zigbee2mqtt: new FakeZigbee2Mqtt(broker.url, { devices: zigbees, groups: [], connection }),
    "ha-discovery": new DiscoveredLamps(broker.url, counts["ha-discovery"] ?? 0, connection),
  };
  const benchHome = await openHome(["mqtt", ...BRIDGES]);
  const config = {
    mqtt: { url: broker.url, username: USER.username, ca },
    zigbee2mqtt: { topic: lamps.zigbee2mqtt.base },
    "ha-discovery": { prefix: "homeassistant" },
  };
  await writeFile(join(benchHome.data, "config.json"), JSON.stringify(config));
  const served = await serveHost(benchHome);
  const home = { served, broker, lamps, ...clientOf(served) };
  const password = { method: "PATCH", body: JSON.stringify({ mqtt: { password: USER.password } }) };
  const patched = await home.api("/config", password);
  if (!patched.ok) throw new Error(`${patched.status}: ${await patched.text()}`);
  const all = BRIDGES.reduce((sum, id) => sum + (counts[id] ?? 0), 0);
  const areUp = async () => (await home.devices()).filter(({ available }) => available).length;
  await waitUntil(READY_WITHIN_MS, async () => (await areUp()) === all);
  const close = async () => {
    await served.stop();
    for (const id of BRIDGES) await lamps[id].stop();
    for (const end of endings) await end();
    await benchHome.remove();
  };
  return { ...home, close };
}

function clientOf({ url, token }: Served): Pick<MqttHome, "api" | "devices" | "command"> {
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const api: MqttHome["api"] = (path, init = {}) =>
    fetch(`${url}/api/v1${path}`, { ...init, headers });
  return {
    api,
    async devices(bridge) {
      const response = await api("/smart-home/devices");
      const { devices } = (await response.json()) as { devices: Device[] };
      return devices.filter((device) => bridge === undefined || device.bridge === bridge);
    },
    async command(id, body) {
      const path = `/smart-home/devices/${id}/command`;
      const response = await api(path, { method: "POST", body: JSON.stringify(body) });
      const { retryAfterMs } = (await response.json()) as { retryAfterMs?: number };
      const retryAfter = response.headers.get("retry-after");
      return { status: response.status, retryAfter, retryAfterMs };
    },
  };
}

/**
 * Reloads a bridge by changing an unused option and waits for the end of the reload. Returns false if the previous
 * generation continues, for example because the start timed out on a busy machine.
 */
export async function reloadBridge({ api }: MqttHome, id: BridgeId): Promise<boolean> {
  const module = async () => (await (await api(`/modules/${id}`)).json()) as ModuleView;
  const before = await module();
  const body = JSON.stringify({ username: `nobody-${Date.now()}` }); // unused without a url
  const response = await api(`/modules/${id}/config`, { method: "PATCH", body });
  if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`);
  const isDone = async () => (await module()).lastReload?.at !== before.lastReload?.at;
  await waitUntil(READY_WITHIN_MS, isDone);
  return (await module()).lastReload?.result === "reloaded";
}

/** Waits until a condition is true. Returns the waiting time in milliseconds. */
export async function waitUntil(ms: number, condition: () => Promise<boolean>): Promise<number> {
  const startedAt = performance.now();
  while (!(await condition().catch(() => false))) {
    if (performance.now() - startedAt > ms)
      throw new Error(`not within ${ms} ms: ${String(condition)}`);
    await delay(20);
  }
  return performance.now() - startedAt;
}

function countingLamp(at: number) {
  const lamp = listedLamp(at);
  const { exposes, ...definition } = lamp["definition"] as { exposes: object[] };
  const counter = { type: "numeric", name: "counter", property: "counter", access: 7 };
  return { ...lamp, definition: { ...definition, exposes: [...exposes, counter] } };
}
