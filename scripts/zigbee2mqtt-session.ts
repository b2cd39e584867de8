// node --import tsx scripts/zigbee2mqtt-session.ts: writes test/fixtures/zigbee2mqtt/real-session.json, with what a real
// Zigbee2MQTT lists and answers. Installs it, and a Node that runs it, into a temporary folder. It has no radio:
// test/fixtures/zigbee2mqtt/radio.cjs takes all commands. Needs mosquitto.

import { execFile, spawn } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import { connectAsync } from "mqtt";

const FIXTURES = join(import.meta.dirname, "../test/fixtures/zigbee2mqtt");
const BASE = "zigbee2mqtt";
/** Without a message for this long, all of an answer has arrived. */
const QUIET_MS = 700;
const LISTED_WITHIN_MS = 60_000;

const LIGHT = [0, 3, 4, 5, 6, 8, 768];
const SWITCH = [0, 3, 4, 5, 6];
/** Name, model and maker as devices tell them, clusters, and endpoints. */
const DEVICES: readonly (readonly [string, string, string, readonly number[], ...number[]])[] = [
  ["lamp", "LCA001", "Signify Netherlands B.V.", LIGHT, 11],
  ["blind", "FYRTUR block-out roller blind", "IKEA of Sweden", [0, 1, 3, 258], 1],
  ["weather", "lumi.weather", "LUMI", [0, 3, 1_026, 1_027, 1_029], 1],
  ["fan", "HDC52EastwindFan", "HAMPTON BAY", [...SWITCH, 8, 514], 1],
  ["gangs", "TS0002", "_TZ3000_18ejxno0", SWITCH, 1, 2],
  ["lock", "YRD226/246 TSDB", "Yale", [0, 1, 3, 257], 1],
  ["plug", "TRADFRI control outlet", "IKEA of Sweden", SWITCH, 1],
  ["far", "TRADFRI control outlet", "IKEA of Sweden", SWITCH, 1],
  ["asleep", "TRADFRI control outlet", "IKEA of Sweden", SWITCH, 1],
];

/** The recorded commands, in this order. */
const STEPS: readonly (readonly [name: string, payload: object])[] = [
  ["lamp", { state: "ON", brightness: 127 }],
  ["lamp", { color: { x: 0.64, y: 0.33 } }],
  ["lamp", { color_temp: 370 }],
  ["lamp", { effect: "blink" }],
  ["lamp", { state: "OFF" }],
  ["blind", { position: 40 }],
  ["blind", { state: "OPEN" }],
  ["blind", { state: "STOP" }],
  ["fan", { fan_state: "ON", fan_mode: "high" }],
  ["fan", { state: "ON", brightness: 127 }],
  ["gangs", { state_l1: "ON" }],
  ["gangs", { state_l2: "OFF" }],
  ["lock", { state: "LOCK" }],
  ["plug", { state: "ON" }],
  ["far", { state: "ON" }],
  ["asleep", { state: "ON" }],
  ["nobody", { state: "ON" }],
  ["plug", { nonsense: 1 }],
  ["lamp", { brightness: 300 }],
];

const run = promisify(execFile);
const folder = await mkdtemp(join(tmpdir(), "zigbee2mqtt-session-"));
const ended = new AbortController();
try {
  await run("npm", ["install", "--prefix", folder, "zigbee2mqtt", "node@24"]);
  const port = await freePort();
  const data = join(folder, "data");
  await mkdir(data);
  await writeFile(join(data, "database.db"), databaseText());
  await writeFile(join(data, "configuration.yaml"), configurationText(port));
  const config = join(folder, "mosquitto.conf");
  await writeFile(config, `listener ${port} 127.0.0.1\nallow_anonymous true\n`);
  const { signal } = ended;
  spawn("mosquitto", ["-c", config], { signal, stdio: "ignore" }).on("error", () => undefined);
  await delay(500);
  const session = await record(port, () => startZigbee2Mqtt(data));
  await writeFile(
    join(FIXTURES, "real-session.json"),
    `${JSON.stringify(session, undefined, 1)}\n`,
  );
  console.log(`${session.steps.length} steps with Zigbee2MQTT ${session.version}`);
} finally {
  ended.abort();
  await delay(500);
  await rm(folder, { recursive: true, force: true });
}

function startZigbee2Mqtt(data: string): void {
  const main = join(folder, "node_modules/zigbee2mqtt/index.js");
  const node = join(folder, "node_modules/node/bin/node");
  const env = { ...process.env, ZIGBEE2MQTT_MAIN: main, ZIGBEE2MQTT_DATA: data };
  const args = ["--require", join(FIXTURES, "radio.cjs"), main];
  // In a folder with a git repository it would build itself again.
  const options = { cwd: folder, env, signal: ended.signal, stdio: "ignore" } as const;
  spawn(node, args, options).on("error", () => undefined);
}

interface Told {
  readonly topic: string;
  readonly payload: unknown;
}

/** Sends each step, and gathers what is told about it. */
async function record(port: number, start: () => void) {
  const client = await connectAsync(`mqtt://127.0.0.1:${port}`);
  const lists = new Map<string, unknown>();
  let told: Told[] = [];
  let toldAt = performance.now();
  client.on("message", (topic, message) => {
    const rest = topic.slice(BASE.length + 1);
    const payload = message.length > 0 ? (JSON.parse(message.toString()) as unknown) : null;
    if (/^bridge\/(info|devices|groups|definitions)$/.test(rest)) lists.set(rest, payload);
    const isOfStep = !rest.startsWith("bridge/") || isError(rest, payload);
    if (!isOfStep || /\/(set|get|availability)$/.test(rest)) return;
    told.push({ topic: rest, payload });
    toldAt = performance.now();
  });
  await client.subscribeAsync(`${BASE}/#`);
  start();
  const endsAt = performance.now() + LISTED_WITHIN_MS;
  while (!lists.has("bridge/definitions") && performance.now() < endsAt) await delay(50);
  await delay(3_000);
  const steps = [];
  for (const [name, payload] of STEPS) {
    told = [];
    toldAt = performance.now();
    await client.publishAsync(`${BASE}/${name}/set`, JSON.stringify(payload));
    while (performance.now() < toldAt + QUIET_MS) await delay(20);
    steps.push({ name, payload, told: told.filter((each) => isAbout(name, each)) });
  }
  await client.endAsync();
  const { version = "" } = (lists.get("bridge/info") ?? {}) as { version?: string };
  const devices = withoutTexts(lists.get("bridge/devices"));
  return { version, devices, groups: lists.get("bridge/groups"), steps };
}

function isError(rest: string, payload: unknown): boolean {
  const { level } = (payload ?? {}) as { level?: unknown };
  return rest === "bridge/logging" && level === "error";
}

function isAbout(name: string, { topic, payload }: Told): boolean {
  return topic === name || JSON.stringify(payload).includes(`'${name}'`);
}

/** The list without words for people, which are most of it. */
function withoutTexts(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutTexts);
  if (typeof value !== "object" || value === null) return value;
  const dropped = new Set(["description", "label", "options", "bindings", "configured_reportings"]);
  const entries = Object.entries(value).filter(([key]) => !dropped.has(key));
  return Object.fromEntries(entries.map(([key, each]) => [key, withoutTexts(each)]));
}

function databaseText(): string {
  const coordinator = rowOf(
    1,
    "Coordinator",
    { ieeeAddr: "0x00124b0000000001", nwkAddr: 0 },
    [1],
    [],
  );
  const rows = DEVICES.map(([, modelId, manufName, clusters, ...endpoints], at) => {
    const of = { ieeeAddr: addressOf(at), nwkAddr: 1_000 + at, modelId, manufName };
    return rowOf(
      at + 2,
      "Router",
      { ...of, powerSource: "Mains (single phase)" },
      endpoints,
      clusters,
    );
  });
  return [coordinator, ...rows].map((row) => JSON.stringify(row)).join("\n");
}

function addressOf(at: number): string {
  return `0x00158d${(at + 2).toString(16).padStart(10, "0")}`;
}

// oxlint-disable-next-line max-params -- one row of a table
function rowOf(
  id: number,
  type: string,
  about: object,
  endpoints: readonly number[],
  inClusterList: readonly number[],
): object {
  const lists = { outClusterList: [], clusters: {}, binds: [], configuredReportings: [], meta: {} };
  const described = endpoints.map((epId) => [
    epId,
    { profId: 260, epId, devId: 256, inClusterList, ...lists },
  ]);
  return {
    id,
    type,
    manufId: 4_476,
    ...about,
    epList: endpoints,
    endpoints: Object.fromEntries(described) as object,
    interviewCompleted: true,
    interviewState: "SUCCESSFUL",
    meta: {},
  };
}

function configurationText(port: number): string {
  const names = DEVICES.map(([friendly_name], at) => [addressOf(at), { friendly_name }]);
  return JSON.stringify({
    version: 5,
    mqtt: { base_topic: BASE, server: `mqtt://127.0.0.1:${port}` },
    serial: { port: "/dev/null", adapter: "zstack" },
    frontend: { enabled: false },
    homeassistant: { enabled: false },
    advanced: {
      log_output: ["console"],
      network_key: Array.from({ length: 16 }, (_, at) => at),
      pan_id: 6_754,
      ext_pan_id: Array<number>(8).fill(221),
      channel: 11,
    },
    devices: Object.fromEntries(names) as object,
    groups: { "1": { friendly_name: "lounge" } },
  });
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
