// node --import tsx scripts/zigbee2mqtt-session.ts: writes test/fixtures/zigbee2mqtt/real-session.json, with what a real
// Zigbee2MQTT lists and answers. test/fakes/real-zigbee2mqtt.ts installs and starts it. Needs mosquitto.

import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { connectAsync } from "mqtt";
import { BASE, installZigbee2Mqtt, startZigbee2Mqtt } from "../test/fakes/real-zigbee2mqtt.ts";
import { startMosquitto } from "../test/helpers/mosquitto.ts";

const FIXTURES = join(import.meta.dirname, "../test/fixtures/zigbee2mqtt");
/** Without a message for this long, all of an answer has arrived. */
const QUIET_MS = 700;
const LISTED_WITHIN_MS = 60_000;

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
  ["lounge", { state: "ON", brightness: 127 }],
  ["lounge", { color: { x: 0.64, y: 0.33 } }],
  ["lounge", { state: "OFF" }],
  ["plug", { nonsense: 1 }],
  ["lamp", { brightness: 300 }],
];

const atEnd: (() => unknown)[] = [];
const session = { after: (close: () => unknown) => void atEnd.unshift(close) };
try {
  const folder = await installZigbee2Mqtt();
  const { port } = await startMosquitto(session);
  const recorded = await record(port, () => startZigbee2Mqtt(session, folder, port));
  const text = JSON.stringify(recorded, undefined, 1);
  await writeFile(join(FIXTURES, "real-session.json"), `${text}\n`);
  console.log(`${recorded.steps.length} steps with Zigbee2MQTT ${recorded.version}`);
} finally {
  for (const close of atEnd) await close();
}

interface Told {
  readonly topic: string;
  readonly payload: unknown;
}

/** Sends each step, and gathers what is told about it. */
async function record(port: number, start: () => Promise<void>) {
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
  await start();
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
